// What a reader does on the page of dragoman serve, and waits for.
const { DESKTOP } = require('./chromium_checks.js');

const SENTENCE = 'The old man reads a book in the garden.';

const text = page => page.locator('#text');
const result = page => page.locator('#result');
const settled = page =>
  page.waitForFunction(
    () => !document.body.classList.contains('old') && document.querySelector('#result').textContent,
  );

// A page whose console and requests are watched.
const open = async (browser, address, options = {}) => {
  const context = await browser.newContext({ viewport: DESKTOP, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  page.faults = [];
  page.expected = () => false; // faults that a check provokes
  page.on('console', message => {
    if (message.type() === 'error' && !page.expected(message.text())) page.faults.push(message.text());
  });
  page.on('pageerror', error => page.faults.push(String(error)));
  page.on('request', request => {
    if (!request.url().startsWith(address) && !request.url().startsWith('blob:'))
      page.faults.push(`asks ${request.url()}`);
  });
  await page.goto(`${address}/`);
  if (options.javaScriptEnabled !== false)
    await page.waitForFunction(() => document.querySelector('#target [disabled], #file[accept]'));
  await page.locator('#target').selectOption('de');
  return page;
};

const answered = (page, written) =>
  page.waitForResponse(
    response => response.url().endsWith('/translate') && response.request().postDataJSON().q === written,
  );

const write = async (page, written) => {
  await Promise.all([answered(page, written), text(page).fill(written)]);
  await settled(page);
};

const inPage = (page, parameters) =>
  page.evaluate(
    async body =>
      (await fetch('translate', {
        method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body),
      })).json(),
    parameters,
  );

const drop = (page, name, bytes, ...others) =>
  page.evaluate(([names, content]) => {
    const dataTransfer = new DataTransfer();
    for (const fileName of names) dataTransfer.items.add(new File([new Uint8Array(content)], fileName));
    document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
  }, [[name, ...others], bytes]);

module.exports = { SENTENCE, answered, drop, inPage, open, result, settled, text, write };
