// The search of the schema reference: names and descriptions of what the page holds, with / to begin, arrows and Enter to go.
(() => {
  const MOST = 12;
  const form = document.querySelector('form.search');
  const box = document.getElementById('search');
  const list = document.getElementById('found');
  const status = document.getElementById('count');
  form.hidden = false;

  const entries = [...document.querySelectorAll('[data-entry]')].map((element) => {
    const label = element.dataset.entry;
    const about = element.querySelector(':scope > .about')?.textContent.trim() ?? '';
    // Types before fields before arguments, where all else is alike.
    const depth = element.id.split('.').length;
    return {
      id: element.id,
      label,
      about,
      depth,
      // The last word: `hash` of `Protein.hash`, `first` of `Query.features(first:)`.
      name: /([^.(@]+?):?\)?$/.exec(label)[1].toLowerCase(),
      words: `${label} ${about}`.toLowerCase(),
    };
  });

  const rank = (entry, text, words) => {
    if (!words.every((word) => entry.words.includes(word))) return null;
    const of = entry.name.startsWith(text) ? 2 : entry.name.includes(text) ? 1 : 0;
    return (entry.name === text || entry.label.toLowerCase() === text ? 3 : of) * 10 - entry.depth;
  };

  let hits = [];
  let active = -1;

  const close = () => {
    list.hidden = true;
    active = -1;
    box.setAttribute('aria-expanded', 'false');
    box.removeAttribute('aria-activedescendant');
  };

  const select = (index) => {
    active = hits.length === 0 ? -1 : (index + hits.length) % hits.length;
    for (const [i, option] of [...list.children].entries())
      option.setAttribute('aria-selected', String(i === active));
    const option = list.children[active];
    if (option === undefined) box.removeAttribute('aria-activedescendant');
    else {
      box.setAttribute('aria-activedescendant', option.id);
      option.scrollIntoView({ block: 'nearest' });
    }
  };

  const go = (entry) => {
    close();
    location.hash = encodeURIComponent(entry.id);
    const target = document.getElementById(entry.id);
    target.tabIndex = -1;
    target.focus({ preventScroll: true });
  };

  const option = (entry, index) => {
    const item = document.createElement('li');
    const name = document.createElement('code');
    const about = document.createElement('span');
    item.id = `found-${index}`;
    item.setAttribute('role', 'option');
    item.setAttribute('aria-selected', 'false');
    name.textContent = entry.label;
    about.textContent = entry.about;
    item.append(name, about);
    item.addEventListener('pointerdown', (event) => {
      event.preventDefault();
      go(entry);
    });
    return item;
  };

  const search = () => {
    const text = box.value.trim().toLowerCase();
    if (text === '') {
      status.textContent = '';
      hits = [];
      return close();
    }
    const words = text.split(/\s+/);
    const ranked = entries
      .map((entry) => ({ entry, rank: rank(entry, text, words) }))
      .filter(({ rank }) => rank !== null)
      .sort((a, b) => b.rank - a.rank || a.entry.label.localeCompare(b.entry.label));
    hits = ranked.slice(0, MOST).map(({ entry }) => entry);
    list.replaceChildren(...hits.map(option));
    status.textContent =
      ranked.length > MOST
        ? `${ranked.length} found, the best ${MOST} shown`
        : `${ranked.length === 0 ? 'nothing' : ranked.length} found`;
    list.hidden = hits.length === 0;
    box.setAttribute('aria-expanded', String(hits.length > 0));
    select(0);
  };

  box.addEventListener('input', search);
  box.addEventListener('focus', () => {
    if (box.value !== '') search();
  });
  box.addEventListener('blur', close);
  box.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      if (list.hidden) search();
      else select(active + (event.key === 'ArrowDown' ? 1 : -1));
    } else if (event.key === 'Enter') {
      event.preventDefault();
      const entry = hits[active];
      if (entry !== undefined) go(entry);
    } else if (event.key === 'Escape') {
      if (list.hidden) box.value = '';
      close();
    }
  });
  form.addEventListener('submit', (event) => event.preventDefault());
  document.addEventListener('keydown', (event) => {
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? '');
    if (event.key !== '/' || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    box.focus();
    box.select();
  });

  // On a phone the list of types would fill the first screen.
  const contents = document.querySelector('.contents details');
  if (matchMedia('(max-width: 60rem)').matches) contents.open = false;
})();
