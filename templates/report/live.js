// The page of a running simulation: asks for what is new, and sends pause, resume, stop. The
// address of the page holds the token that every request must carry.
function startLive() {
  const base = location.pathname.replace(/\/+$/, '');
  const bar = document.querySelector('.bar');
  const progress = bar.querySelector('progress'), status = bar.querySelector('output');
  const pause = bar.querySelector('[data-act="pause"]'), stop = bar.querySelector('[data-act="stop"]');
  let since = page.live.since, over = false, misses = 0;

  const say = act => fetch(`${base}/${act}`, {method: 'POST', cache: 'no-store'}).catch(() => {});
  pause.addEventListener('click', () => say(pause.textContent === 'Pause' ? 'pause' : 'resume').then(ask));
  stop.addEventListener('click', () => { if (confirm('Stop the run? What it has written so far is kept.')) say('stop').then(ask); });

  const seconds = s => s < 100 ? `${s.toFixed(0)} s` : s < 6000 ? `${(s / 60).toFixed(0)} min` : `${(s / 3600).toFixed(1)} h`;
  const show = now => {
    if (now.steps > 0) progress.value = now.step / now.steps; else progress.removeAttribute('value');
    const parts = [`${page.unit} ${now.step}${now.steps > 0 ? ' of ' + now.steps : ''}`];
    if (page.unit === 'step') parts.push(`t = ${pretty(now.time, 5)}`);
    if (now.rate > 0) parts.push(`${pretty(now.rate / 1e6, 3)} M sites/s`);
    if (now.left > 0 && now.state === 'running') parts.push(`${seconds(now.left)} left`);
    if (now.state !== 'running') parts.push(now.state);
    status.textContent = parts.join(' · ');
    pause.textContent = now.state === 'paused' ? 'Resume' : 'Pause';
    if (now.state === 'finished' || now.state === 'stopped') {
      over = true;
      pause.disabled = stop.disabled = true;
    }
  };

  const take = news => {
    // a series, spectrum or picture that the page does not know yet: load it anew
    if (news.shape !== page.live.shape) { location.reload(); return; }
    for (const s of news.series) {
      const figure = figures.series.get(s.index);
      const x = numbers(s.x), y = numbers(s.y);
      if (figure) figure.grow(x, y);
      else growData(s.index, x, y);
      const last = document.querySelector(`figure[data-series="${s.index}"] .last`);
      if (last && y.length) last.textContent = pretty(y[y.length - 1], 8);
    }
    for (const kind of ['tables', 'pictures'])
      for (const entry of news[kind]) {
        const figure = figures[kind].get(entry.index);
        const frames = kind === 'tables'
          ? entry.frames.map(f => ({t: f.t, step: f.step, x: numbers(f.x), y: numbers(f.y), other: f.o ? numbers(f.o) : null}))
          : entry.frames;
        if (figure?.grow) figure.grow(frames);
        else keepFrames(kind, entry.index, frames);
      }
    for (const c of news.checks) {
      const cell = document.querySelector(`[data-verdict="${c.index}"]`);
      if (cell) { cell.textContent = c.ok ? 'holds' : 'failed'; cell.className = c.ok ? 'ok' : 'failed'; }
    }
    since = news.since;
    show(news.progress);
  };

  const ask = async () => {
    try {
      const answer = await fetch(`${base}/news?since=${since}`, {cache: 'no-store'});
      if (!answer.ok) throw new Error(String(answer.status));
      misses = 0;
      take(await answer.json());
    } catch (error) {
      if (++misses > 3) { over = true; status.textContent += ' · the run has ended or cannot be reached'; }
    }
  };
  const loop = async () => {
    await ask();
    if (!over) setTimeout(loop, document.hidden ? 5000 : 1000);
  };
  loop();
}

/** What comes in for a figure that is not drawn yet waits in the page's data. */
function growData(index, x, y) {
  const c = page.series[index].curves[0];
  const join = (a, b) => { const all = new Float64Array(a.length + b.length); all.set(a); all.set(b, a.length); return all; };
  const put = (number, more) => { const all = join(array(number), more); page.arrays.push(null); unpacked.set(page.arrays.length - 1, all); return page.arrays.length - 1; };
  c.x = put(c.x, x);
  c.y = put(c.y, y);
}
function keepFrames(kind, index, frames) {
  const entry = page[kind][index];
  const put = values => { page.arrays.push(null); unpacked.set(page.arrays.length - 1, values); return page.arrays.length - 1; };
  for (const f of frames)
    entry.frames.push(kind === 'pictures' ? f : {t: f.t, step: f.step, x: put(f.x), y: put(f.y), o: f.other ? put(f.other) : undefined});
}
