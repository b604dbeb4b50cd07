// Starts GraphiQL: example and query from the address, the token from this tab's memory, workers
// from the gateway.
(() => {
  const settings = JSON.parse(document.getElementById('settings').textContent);
  const address = new URL(location.href);
  const field = document.getElementById('token');
  const report = document.getElementById('report');
  const menu = document.getElementById('example');

  // sessionStorage lives and dies with the tab; a token must never outlive it.
  field.value = sessionStorage.getItem('foldatlas.token') ?? settings.token ?? '';
  field.addEventListener('input', () => sessionStorage.setItem('foldatlas.token', field.value.trim()));
  report.checked = sessionStorage.getItem('foldatlas.report') === '1';
  report.addEventListener('change', () =>
    sessionStorage.setItem('foldatlas.report', report.checked ? '1' : '0'),
  );
  document.getElementById('bar').addEventListener('submit', (event) => event.preventDefault());

  const headers = () => {
    const token = field.value.trim().replace(/^bearer\s+/i, '');
    return {
      ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
      ...(report.checked ? { 'x-upstream-report': '1' } : {}),
    };
  };

  // Ids that answers gave are filled into the examples that ask for them.
  const ids = JSON.parse(sessionStorage.getItem('foldatlas.ids') ?? '{}');
  const remember = (value) => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, child] of Object.entries(value)) {
      if (/^(batchId|taskId|lookupId)$/.test(key) && typeof child === 'string') ids[key] = child;
      else remember(child);
    }
  };
  const fetchHere = globalThis.fetch.bind(globalThis);
  globalThis.fetch = async (resource, options) => {
    const response = await fetchHere(resource, options);
    if (/json/.test(response.headers.get('content-type') ?? '')) {
      response
        .clone()
        .json()
        .then((answer) => {
          remember(answer?.data);
          sessionStorage.setItem('foldatlas.ids', JSON.stringify(ids));
        })
        .catch(() => {});
    }
    return response;
  };

  const filled = ({ variables }, given) => {
    if (variables === null && given === null) return '';
    const asked = Object.entries(JSON.parse(variables ?? '{}'));
    const known = asked.map(([name, value]) => [name, ids[name] ?? value]);
    return JSON.stringify({ ...Object.fromEntries(known), ...given }, null, 2);
  };
  const parseJson = (text) => {
    try {
      return text === null ? null : JSON.parse(text);
    } catch {
      return null;
    }
  };

  const wanted = settings.examples.find(({ name }) => name === address.searchParams.get('example'));
  const given = address.searchParams.get('variables');
  const first = settings.examples[0];
  // GraphiQL keeps operations of earlier visits; without being told which one to show it would add
  // an empty one.
  const kept = parseJson(localStorage.getItem('graphiql:tabState'));
  const last = kept?.tabs?.[kept.activeTabIndex];
  const start =
    wanted !== undefined
      ? { query: wanted.query, variables: filled(wanted, parseJson(given)) }
      : address.searchParams.has('query')
        ? given === null
          ? {}
          : { variables: given }
        : last !== undefined
          ? { query: last.query ?? '', variables: last.variables ?? '' }
          : first === undefined
            ? {}
            : { defaultTabs: [{ query: first.query, variables: filled(first, null) }] };

  menu.value = wanted?.name ?? '';
  menu.addEventListener('change', () => {
    if (menu.value !== '') location.assign(`?example=${encodeURIComponent(menu.value)}`);
  });

  const workers = settings.workers;
  self.MonacoEnvironment = { globalAPI: false, getWorkerUrl: (_, label) => workers[label] };
  const root = document.getElementById('editor');
  if (globalThis.YogaGraphiQL === undefined) {
    root.querySelector('[role=status]').textContent = 'GraphiQL could not be loaded. Reload the page.';
    return;
  }
  root.replaceChildren();
  globalThis.YogaGraphiQL.renderYogaGraphiQL(root, {
    ...start,
    // The bar above says whose page this is.
    title: ' ',
    logo: ' ',
    shouldPersistHeaders: false,
    showPersistHeadersSettings: false,
    subscriptionsProtocol: 'SSE',
    additionalHeaders: headers,
    // The address holds the query while it is short, so that it can be shared; an example
    // that was changed is none.
    onEditQuery(query) {
      const here = new URL(location.pathname, location.href);
      menu.value = '';
      if (query.length < 2000) here.searchParams.set('query', query);
      history.replaceState(null, '', here);
    },
  });
})();
