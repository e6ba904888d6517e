// Light and dark, then the figures, then the live part where there is one.
function setTheme(name) {
  document.documentElement.dataset.theme = name;
}
const darkPreferred = matchMedia('(prefers-color-scheme: dark)');
let chosen = false;
setTheme(darkPreferred.matches ? 'dark' : 'light');
darkPreferred.addEventListener('change', event => { if (!chosen) setTheme(event.matches ? 'dark' : 'light'); });
document.querySelector('.theme')?.addEventListener('click', () => {
  chosen = true;
  setTheme(document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark');
});
fillFigures();
if (page.live) startLive();
document.documentElement.dataset.ready = 'yes';
