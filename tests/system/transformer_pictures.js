// Saves figures of the pages of dragoman explain as a reader does, for docs/transformer.md. Started by
// transformer_page.py.
//
// Usage: node transformer_pictures.js MODULES CHROMIUM FOLDER_OF_PAGES FOLDER_OF_PICTURES
const path = require('node:path');
const { pathToFileURL } = require('node:url');

const { ARGUMENTS, DESKTOP } = require('./chromium_checks.js');

const [modules, executablePath, pages, pictures] = process.argv.slice(2);
const { chromium } = require(path.join(modules, 'playwright-core'));

const FIGURES = [
  ['page.html', 'architecture'],
  ['page.html', 'waves'],
  ['page.html', 'near'],
  ['beam.html', 'tree'],
];

const main = async () => {
  const browser = await chromium.launch({ executablePath, args: ARGUMENTS });
  for (const [file, figure] of FIGURES) {
    const page = await browser.newPage({ viewport: DESKTOP, acceptDownloads: true, colorScheme: 'light' });
    await page.goto(pathToFileURL(path.join(pages, file)).href);
    await page.waitForFunction(() => drawings.every(drawing => !drawing.stale));
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.locator(`[data-figure=${figure}] .save`).click(),
    ]);
    await download.saveAs(path.join(pictures, figure + path.extname(download.suggestedFilename())));
    await page.close();
  }
  await browser.close();
};

main();
