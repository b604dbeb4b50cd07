// The state of upstream and store, from /ready.
fetch('ready')
  .then((response) => response.json())
  .then(({ checks }) => {
    for (const { name, ok } of checks) {
      const place = document.querySelector(`[data-check="${name}"]`);
      if (place === null) continue;
      place.className = `state ${ok ? 'good' : 'bad'}`;
      place.textContent = ok ? 'answers' : 'does not answer';
    }
  })
  .catch(() => {});

// Buttons that copy: shown only where they work.
for (const button of document.querySelectorAll('button[data-copy]')) {
  if (navigator.clipboard === undefined) continue;
  button.hidden = false;
  button.addEventListener('click', async () => {
    const text = document.getElementById(button.dataset.copy).textContent;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = 'Copied';
    } catch {
      button.textContent = 'Not allowed';
    }
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 1500);
  });
}
