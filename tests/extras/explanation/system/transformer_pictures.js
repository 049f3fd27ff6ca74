// Saves figures of the pages of dragoman explain and dragoman plot, for docs/transformer.md. Started by
// transformer_page.py.
//
// Usage: node transformer_pictures.js MODULES CHROMIUM FOLDER_OF_PAGES FOLDER_OF_PICTURES
const fs = require('node:fs');
const path = require('node:path');
const { pathToFileURL } = require('node:url');

const { ARGUMENTS, DESKTOP } = require('../../../system/chromium_checks.js');

const [modules, executablePath, pages, pictures] = process.argv.slice(2);
const { chromium } = require(path.join(modules, 'playwright-core'));

const FIGURES = [
  ['page.html', 'architecture'],
  ['page.html', 'waves'],
  ['page.html', 'near'],
  ['beam.html', 'tree'],
];

const CURVES = [
  ['warm-up.html', '[data-type=update][data-name=learning_rate]', 'warm-up-rate.svg'],
  ['warm-up.html', '[data-type=validation][data-name=loss]', 'warm-up-loss.svg'],
];

const open = async (browser, file) => {
  const page = await browser.newPage({ viewport: DESKTOP, acceptDownloads: true, colorScheme: 'light' });
  await page.goto(pathToFileURL(path.join(pages, file)).href);
  return page;
};

// As a reader saves it.
const saveFigure = async (browser, file, figure) => {
  const page = await open(browser, file);
  await page.waitForFunction(() => drawings.every(drawing => !drawing.stale));
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.locator(`[data-figure=${figure}] .save`).click(),
  ]);
  await download.saveAs(path.join(pictures, figure + path.extname(download.suggestedFilename())));
  await page.close();
};

// The pages of dragoman plot save no figures; the code that does so works there, too.
const saveCurve = async (browser, file, figure, picture) => {
  const page = await open(browser, file);
  const folder = path.join(__dirname, '../../extras/report/page');
  for (const script of ['elements.js', 'svg.js', 'explanation_saving.js'])
    await page.addScriptTag({ path: path.join(folder, script) });
  const svg = await page.evaluate(
    async selector => (await standaloneSvg(document.querySelector(selector))).text(),
    `figure${figure} svg.by-updates`,
  );
  fs.writeFileSync(path.join(pictures, picture), svg);
  await page.close();
};

const main = async () => {
  const browser = await chromium.launch({ executablePath, args: ARGUMENTS });
  for (const figure of FIGURES) await saveFigure(browser, ...figure);
  for (const curve of CURVES) await saveCurve(browser, ...curve);
  await browser.close();
};

main();
