// Starts `vphi lsp` and connects the editor to it. Everything else is the server's.
'use strict';

const vscode = require('vscode');
const { LanguageClient } = require('vscode-languageclient/node');

let client;

async function start() {
  const command = vscode.workspace.getConfiguration('vphi').get('command', 'vphi');
  client = new LanguageClient(
    'vphi',
    'vphi',
    { command, args: ['lsp', '--stdio'] },
    { documentSelector: [{ language: 'vphi' }] }
  );
  try {
    await client.start();
  } catch (error) {
    vscode.window.showErrorMessage(
      `The command "${command}" does not start: ${error.message}. Set vphi.command to its path.`
    );
  }
}

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand('vphi.restart', async () => {
      if (client) await client.stop().catch(() => {});
      await start();
    })
  );
  await start();
}

function deactivate() {
  return client ? client.stop() : undefined;
}

module.exports = { activate, deactivate };
