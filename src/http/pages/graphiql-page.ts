// The GraphiQL page: an Authorization field, the examples, and a sandbox notice. The editor is
// loaded from cached files; its initial state is in the page as JSON.
import { keyPlaceholder, SANDBOX_NOTICE, type Site, sandboxToken } from './front-page.ts';
import { dataBlock, type Html, html } from './html.ts';

/** The page. */
export const graphiqlPage = (site: Site): Html => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>GraphiQL · FoldAtlas</title>
<link rel="icon" type="image/svg+xml" href="${site.assets.url('favicon.svg')}">
<link rel="stylesheet" href="${site.assets.url('graphiql-app.css')}">
<link rel="stylesheet" href="${site.assets.url('graphiql.css')}">
${dataBlock('settings', {
  examples: site.examples.map(({ name, title, query, variables }) => ({ name, title, query, variables })),
  // The Authorization field of a tab that has not been given a token.
  token: sandboxToken(site),
  workers: {
    editorWorkerService: site.assets.url('graphiql-editor-worker.js'),
    json: site.assets.url('graphiql-json-worker.js'),
    graphql: site.assets.url('graphiql-language-worker.js'),
  },
})}
<script src="${site.assets.url('graphiql-app.js')}" defer></script>
<script src="${site.assets.url('graphiql.js')}" defer></script>
</head>
<body>
<header class="bar">
<h1>GraphiQL</h1>
<a class="brand" href="./"><img src="${site.assets.url('favicon.svg')}" alt="" width="24" height="24">FoldAtlas</a>
${
  site.isSandbox() &&
  html`<p class="sandbox" role="note" title="${SANDBOX_NOTICE}">
<strong>Sandbox</strong><span> not predictions</span></p>`
}
<form id="bar">
<label for="example">Example</label>
<select id="example"><option value="">Open an example …</option>${site.examples.map(
  ({ name, title }) => html`<option value="${name}">${title}</option>`,
)}</select>
<label for="token">Authorization: Bearer</label>
<input id="token" type="password" autocomplete="off" spellcheck="false" placeholder="${keyPlaceholder(site.config)}"
 aria-describedby="token-note">
<span id="token-note" class="note">kept for this tab only</span>
<label class="check"><input id="report" type="checkbox"> report upstream calls</label>
</form>
</header>
<main id="editor"><noscript><p class="loading">GraphiQL needs JavaScript. Ask from a shell instead: the
<a href="./">front page</a> shows how.</p></noscript>
<p class="loading" role="status">Loading GraphiQL …</p></main>
</body>
</html>
`;
