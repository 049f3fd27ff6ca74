// Works with pages of dragoman explain as a reader does, in Chromium. Started by explanation_page.py.
//
// Usage: node explanation_page.js MODULES CHROMIUM LARGE UNUSUAL work|speed [FOLDER for screenshots]
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { pathToFileURL } = require('node:url');

const { ARGUMENTS, DESKTOP, PHONE, Runner, expectWellMade } = require('../../../system/chromium_checks.js');
const { SIGHTS, contrast, distance } = require('./color_vision.js');

const [modules, executablePath, large, unusual, part, screenshots] = process.argv.slice(2);
const { chromium } = require(path.join(modules, 'playwright-core'));
const axe = fs.readFileSync(path.join(modules, 'axe-core', 'axe.min.js'), 'utf8');


// A page whose console and requests are watched, with everything drawn.
const open = async (browser, { file = large, hash = '', ...options } = {}) => {
  const address = pathToFileURL(path.resolve(file)).href;
  const context = await browser.newContext({ viewport: DESKTOP, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  page.faults = [];
  page.on('console', message => {
    if (['error', 'warning'].includes(message.type())) page.faults.push(message.text());
  });
  page.on('pageerror', error => page.faults.push(String(error)));
  page.on('request', request => {
    if (!request.url().startsWith(address) && !request.url().startsWith('blob:'))
      page.faults.push(`asks ${request.url()}`);
  });
  await page.goto(address + hash);
  await drawn(page);
  return page;
};

const drawn = page => page.waitForFunction(() => drawings.every(drawing => !drawing.stale));
const text = (page, selector) => page.locator(selector).textContent();
const kind = (page, name) => page.locator(`#kinds [data-kind=${name}]`).click();

const checks = {
  async 'every part is drawn'(page) {
    for (const figure of ['architecture', 'lines', 'matrix', 'tree'])
      assert.ok((await page.locator(`[data-figure=${figure}] svg :is(rect, path)`).count()) > 5, figure);
    const empty = await page.evaluate(() =>
      [...document.querySelectorAll('canvas')].filter(canvas => {
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        return !data.some((value, i) => i % 4 === 3 && value > 0);
      }).length,
    );
    assert.equal(empty, 0, 'canvases without a picture');
    const [layers, heads] = await page.evaluate(() => [layersOf('cross'), blockOf('cross', 0).heads]);
    assert.equal(await page.locator('#thumbnails button').count(), layers * heads);
    assert.ok((await page.locator('#candidates tbody tr').count()) > 10);
  },

  async 'attention is what the paper says, on the numbers of the page'(page) {
    const faults = await page.evaluate(() => {
      const found = [];
      for (let number = 0; number < explanation.sentences.length; ++number) {
        change({ sentence: number });
        for (const kind of Object.keys(kSides))
          for (let layer = 0; layer < layersOf(kind); ++layer) {
            const block = blockOf(kind, layer);
            for (let head = 0; head < block.heads; ++head)
              for (let q = 0; q < block.queries; ++q) {
                let sum = 0;
                for (let k = 0; k < block.keys; ++k) {
                  const weight = block.at(head, q, k);
                  sum += weight;
                  if (kind === 'decoder' && k > q && weight !== 0) found.push(`not masked: ${[kind, layer, head, q, k]}`);
                }
                if (Math.abs(sum - 1) > 1e-12) found.push(`a row sums to ${sum}: ${[kind, layer, head, q]}`);
              }
          }
      }
      return found;
    });
    assert.deepEqual(faults, []);
  },

  // The strips of q and k have six bits a number, so their products are near the scores.
  async 'the steps lead from q and k to the weights'(page) {
    const worst = await page.evaluate(() => {
      const most = { score: 0, weight: 0 };
      for (const kind of Object.keys(kSides))
        for (let layer = 0; layer < layersOf(kind); ++layer)
          for (let head = 0; head < blockOf(kind, layer).heads; ++head) {
            Object.assign(view, { kind, layer, head });
            const { q, rows, size } = stepsOf();
            const powers = rows.map(row => Math.exp(row.score));
            const all = powers.reduce((total, power) => total + power, 0);
            rows.forEach((row, k) => {
              most.weight = Math.max(most.weight, Math.abs(powers[k] / all - row.weight));
              if (!row.masked)
                most.score = Math.max(most.score, Math.abs(dotProduct(q, row.key) / Math.sqrt(size) - row.score));
            });
          }
      return most;
    });
    assert.ok(worst.weight < 1e-12 && worst.score < 0.3, JSON.stringify(worst));
  },

  async 'words are sums and means of pieces: their rows sum to 1, too'(page) {
    const worst = await page.evaluate(() => {
      let most = 0;
      for (const kind of Object.keys(kSides)) {
        change({ kind, unit: 'words' });
        for (const row of shownAttention().mean)
          most = Math.max(most, Math.abs(row.reduce((sum, weight) => sum + weight, 0) - 1));
      }
      return most;
    });
    assert.ok(worst < 1e-9, String(worst));
  },

  async 'masked cells are drawn as such'(page) {
    await kind(page, 'decoder');
    await page.locator('#unit').selectOption('pieces');
    const length = await page.evaluate(() => tokensOf('output').length);
    const masked = await page.locator('#matrix .masked').getAttribute('d');
    assert.equal(masked.split('M').length - 1, (length * (length - 1)) / 2);
    await page.locator('#matrix svg').focus();
    await page.keyboard.press('ArrowRight');
    assert.match(await text(page, '#matrix-cell'), /: 0, masked$/);
    await page.keyboard.press('ArrowLeft');
    assert.match(await text(page, '#matrix-cell'), /: 1\.0000$/);
  },

  async 'a word is chosen by keyboard, and all parts follow'(page) {
    const first = page.locator('.query').first();
    await first.click();
    assert.equal(await page.evaluate(() => view.output), 0);
    await page.keyboard.press('ArrowDown');
    const token = await page.evaluate(() => view.output);
    assert.ok(token > 0);
    await drawn(page);
    assert.equal(await page.evaluate(() => document.activeElement.dataset.unit), '1');
    assert.equal(await page.locator('#step-word').inputValue(), String(token));
    assert.match(await text(page, '#candidates-title'), new RegExp(`^Step ${token + 1}:`));
    assert.match(page.url(), new RegExp(`output=${token}`));
  },

  async 'a head is chosen among all'(page) {
    const last = page.locator('#thumbnails button').last();
    await last.click();
    await drawn(page);
    const [layer, head] = await page.evaluate(() => [view.layer + 1, view.head + 1]);
    assert.equal(await last.getAttribute('aria-pressed'), 'true');
    assert.match(await text(page, '#matrix-title'), new RegExp(`layer ${layer}, head ${head}$`));
    assert.match(await text(page, '#step-title'), new RegExp(`layer ${layer}, head ${head}$`));
    await page.locator('#heads button').first().click();
    assert.match(await text(page, '#matrix-title'), /mean of all heads$/);
  },

  async 'the first step shows the values as they are, the fifth as they count'(page) {
    await kind(page, 'encoder');
    const look = () =>
      page.evaluate(() => {
        const rows = [...document.querySelectorAll('.steps-table tbody tr')];
        const values = rows.map(row => row.querySelectorAll('canvas')[1]).filter(found => found);
        return {
          head: document.querySelector('.steps-table thead th:last-child').textContent,
          least: Math.min(...values.map(strip => Number(getComputedStyle(strip).opacity))),
          cell: Number(getComputedStyle(values[0].parentElement).opacity),
        };
      });
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await page.locator('#step-buttons button').nth(1).click();
    assert.deepEqual(await look(), { head: 'value v', least: 1, cell: 1 });
    await page.locator('#step-buttons button').nth(5).click();
    const counted = await look();
    assert.equal(counted.head, 'value v × weight');
    assert.ok(counted.least < 0.9 && counted.cell === 1, JSON.stringify(counted));
  },

  async 'the row of the word that asks is marked, and always there'(page) {
    for (const name of ['encoder', 'decoder']) {
      await kind(page, name);
      const missing = await page.evaluate(() => {
        const side = kSides[view.kind].queries;
        return tokensOf(side).filter((_, position) => {
          change({ [side]: position });
          showSteps();
          const own = [...document.querySelectorAll('.own-row th > span')].map(text => text.textContent);
          return own.length !== 1 || own[0] !== tokensOf(kSides[view.kind].keys)[position].piece;
        }).length;
      });
      assert.equal(missing, 0, name);
    }
    await kind(page, 'cross');
    await drawn(page);
    assert.equal(await page.locator('.own-row').count(), 0);
  },

  async 'what greedy search takes is marked at each step'(page) {
    const greedyAt = async step => {
      await page.locator('#output-tokens button').nth(step).click();
      const marked = page.locator('#candidates tr', { hasText: '↑ greedy' });
      assert.equal(await marked.count(), 1, `step ${step + 1}`);
      return { piece: await marked.locator('th > span').textContent(), note: await text(page, '#candidates-note') };
    };
    const written = await page.evaluate(() => tokensOf('output').map(({ piece }) => piece));
    const first = await greedyAt(0);
    assert.equal(first.piece, written[0]);
    assert.match(first.note, /takes the same piece/);
    const third = await greedyAt(2);
    assert.equal(third.piece, '▁other0');
    assert.match(third.note, /goes another way from here/);
    assert.match(await page.locator('#output-tokens button').nth(2).textContent(), /not greedy/);
    const later = await greedyAt(5);
    assert.equal(later.piece, await page.evaluate(() => sentence().target_tokens[5].top[0].piece));
    assert.match(later.note, /left this path at step 3/);
  },

  async 'the search says what it compares hypotheses by'(page) {
    assert.match(await text(page, '#tree-facts'), /the length penalty α is 1\)/);
    assert.match(await text(page, '#greedy'), /log-probability −3\.50, score −1\.170/);
  },

  async 'words have room, and long ones end in dots'(page) {
    const cut = () =>
      page.evaluate(() =>
        [...document.querySelectorAll('#lines svg, #matrix svg')].flatMap(svg => {
          const frame = svg.getBoundingClientRect();
          return [...svg.querySelectorAll('text')]
            .filter(label => {
              const { left, top, right, bottom } = label.getBoundingClientRect();
              return left < frame.left - 1 || top < frame.top - 1 || right > frame.right + 1 || bottom > frame.bottom + 1;
            })
            .map(label => label.textContent);
        }),
      );
    const write = words =>
      page.evaluate(words => {
        const tokens = sentence().target_tokens.slice(0, words.length);
        const before = tokens.map(({ piece }) => piece);
        tokens.forEach((token, i) => (token.piece = words[i]));
        return before;
      }, words);
    const before = await write(['MMMMMMMMM', 'W'.repeat(50)]);
    await page.selectOption('#unit', 'pieces');
    await drawn(page);
    assert.deepEqual(await cut(), []);
    assert.match(await text(page, '#matrix'), /MMMMMMMMMWWW+…/);
    await write(before);
    await page.selectOption('#unit', 'words');
  },

  async 'the longest wave of the positions is that of the model'(page) {
    // 2π 10000^(31/32), for 64 dimensions.
    assert.match(await text(page, '#positions-note'), /10000\s*2i\/d.*on the right 47,117 positions long/s);
  },

  async 'heads look at the end mark only if the source has one'(page) {
    const found = await page.evaluate(() => {
      const rolesAtEnd = () =>
        ['encoder', 'cross']
          .flatMap(kind =>
            Array.from({ length: layersOf(kind) }, (_, layer) =>
              headsOf().map(head => measuresOf(kind, layer, head).role),
            ).flat(),
          )
          .filter(role => role === 'the end mark').length;
      const last = sentence().source_tokens.at(-1);
      const withMark = rolesAtEnd();
      last.word = sentence().source_tokens.length;
      const without = rolesAtEnd();
      last.word = null;
      return { withMark, without };
    });
    assert.ok(found.withMark > 0);
    assert.equal(found.without, 0);
  },

  async 'strips and cells tell what they show'(page) {
    const silent = await page.evaluate(
      () =>
        [...document.querySelectorAll('.strip')].filter(
          strip => !/^.+: \d+ numbers from −?[\d.]+ to −?[\d.]+$/.test(strip.getAttribute('aria-label') || ''),
        ).length,
    );
    assert.equal(silent, 0);
    assert.ok((await page.locator('[aria-label^="Value of "]').count()) > 5);
    for (const cell of ['#waves-cell', '#near-cell', '#matrix-cell'])
      assert.equal(await page.locator(cell).getAttribute('role'), 'status', cell);
  },

  async 'the texts of the boxes have room'(page) {
    const tight = await page.evaluate(() =>
      [...document.querySelectorAll('.box')].flatMap(box => {
        const [edge, ...texts] = [...box.children].map(part => part.getBBox());
        return texts.some(({ width }) => width + 14 > edge.width) ? [box.textContent] : [];
      }),
    );
    assert.deepEqual(tight, []);
  },

  async 'words of scripts without spaces'(page) {
    const found = await page.evaluate(() => [
      wordText(['▁', '先生']),
      wordText(['▁']),
      wordText(['▁', '<0xE5>', '<0x85>', '<0x88>', '生']),
      ...['私は', 'ABC日本', 'ฉันรู้', "don't go"].map(text => wordsOf(text).map(word => word.text).join('|')),
    ]);
    assert.deepEqual(found, ['先生', '▁', '先生', '私|は', 'ABC|日|本', 'ฉั|น|รู้', "don't|go"]);
  },

  async 'the steps are read one by one'(page) {
    for (let step = 1; step <= 6; ++step) {
      await page.locator('#step-buttons button').nth(step).click();
      assert.equal(await page.locator('#steps').getAttribute('data-at'), String(step));
      assert.ok((await text(page, '#step-note')).length > 40);
    }
  },

  async 'the search is walked through by keyboard'(page) {
    await page.locator('#tree .node').first().focus();
    const begin = await text(page, '#node-note');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    const node = await text(page, '#node-note');
    assert.notEqual(node, begin);
    assert.match(node, /log-probability −\d/);
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    assert.equal(await text(page, '#node-note'), begin);
  },

  async 'the address keeps what is chosen'(page) {
    await kind(page, 'encoder');
    await page.locator('#layers button').first().click();
    await page.locator('#unit').selectOption('pieces');
    const [chosen, title] = [page.url(), await text(page, '#matrix-title')];
    await page.goto('about:blank');
    await page.goto(chosen);
    await drawn(page);
    assert.equal(await text(page, '#matrix-title'), title);
    assert.equal(await page.locator('#unit').inputValue(), 'pieces');
  },

  async 'a figure is saved as it is seen'(page) {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.locator('[data-figure=lines] .save').click(),
    ]);
    const svg = fs.readFileSync(await download.path(), 'utf8');
    assert.match(download.suggestedFilename(), /\.svg$/);
    assert.match(svg, /^<svg[^>]* xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
    assert.doesNotMatch(svg, /var\(/);
    assert.match(svg, /^<svg[^>]* role="img"[^>]*>(<rect [^>]*>)?<title>Lines of attention from \d+ words to \d+<\/title>/);
    assert.match(svg, /^<svg[^>]* font-family="Helvetica, Arial, sans-serif"/);
    assert.doesNotMatch(svg, /system-ui/);
    for (const figure of ['architecture', 'lines', 'matrix', 'tree'])
      assert.doesNotMatch(
        await page.evaluate(
          name => standaloneSvg(document.querySelector(`[data-figure=${name}] svg`)).text(),
          figure,
        ),
        /<(path|rect|line|circle)[^>]* (font|text)-/,
        `${figure}: SVG allows shapes no properties of text`,
      );
  },

  async 'another sentence'(page) {
    const length = await page.evaluate(() => explanation.sentences.length);
    assert.ok(length > 1);
    await page.locator('#next').click();
    await drawn(page);
    const shown = await page.locator('#source-words .word > span').allTextContents();
    const expected = await page.evaluate(() => explanation.sentences[1].source_tokens.map(token => wordText([token.piece])).join(''));
    assert.equal(shown.join(''), expected);
  },

  async 'markup in a text is text'(page) {
    assert.equal(await page.locator('main b[onclick]').count(), 0);
  },
};

const speedChecks = {
  // The fastest of several times: a machine that is busy otherwise must not fail the page.
  async 'the choice of a word, a head, a layer or a kind is answered within 100 ms'(page) {
    await page.locator('#attention').scrollIntoViewIfNeeded();
    const times = await page.evaluate(async () => {
      const buttons = {
        word: i => document.querySelectorAll('.query')[i + 3],
        head: i => document.querySelectorAll('#heads button')[i + 2],
        layer: i => document.querySelectorAll('#layers button')[i],
        kind: i => document.querySelectorAll('#kinds button')[i % 3],
      };
      const fastest = {};
      for (const [name, buttonOf] of Object.entries(buttons)) {
        fastest[name] = Infinity;
        for (let i = 0; i < 6; ++i) {
          const begin = performance.now();
          buttonOf(i).dispatchEvent(new MouseEvent('click', { bubbles: true }));
          document.body.getBoundingClientRect(); // lays the page out
          fastest[name] = Math.min(fastest[name], performance.now() - begin);
          await new Promise(done => setTimeout(done, 20));
        }
      }
      return fastest;
    });
    console.log(`   ${JSON.stringify(times)} ms`);
    assert.ok(Math.max(...Object.values(times)) < 100);
  },
};

const unusualChecks = {
  async 'a given translation has no search; more heads than colours have dashes'(page) {
    assert.ok(await page.locator('#given-note').isVisible());
    assert.equal(await page.locator('#tree-part').isVisible(), false);
    assert.equal(await page.locator('#alternatives-part').isVisible(), false);
    await page.locator('#lines-choice').selectOption('all');
    assert.ok((await page.locator('#lines path:not([stroke-dasharray=none])').count()) > 0);
    assert.ok((await page.locator('.box').allTextContents()).includes('positional encoding+ learned'));
  },
};

// Lines with the same dashes are told apart by colour alone; the squares beside the words also by their places.
const checkSights = async page => {
  const { colors, dashes, grounds } = await page.evaluate(() => {
    const heads = Array.from({ length: kHeadColors }, (_, head) => head);
    return {
      colors: heads.map(head => rgbOf(`--head-${head}`)),
      dashes: Array.from({ length: 24 }, (_, head) => `${headColor(head)} ${headDashes(head)}`),
      grounds: [document.body, document.querySelector('.card')].map(part =>
        getComputedStyle(part).backgroundColor.match(/\d+/g).map(Number),
      ),
    };
  });
  assert.equal(new Set(dashes).size, 24, 'no two of 24 heads look the same');
  for (const [head, color] of colors.entries())
    for (const ground of grounds)
      assert.ok(contrast(color, ground) >= 4.5, `head ${head + 1} on the page: ${contrast(color, ground)}`);
  for (const sight of SIGHTS)
    for (let a = 0; a < colors.length; ++a)
      for (let b = 0; b < a; ++b) {
        const isByColor = dashes[a].split(') ')[1] === dashes[b].split(') ')[1];
        const least = isByColor ? 25 : sight === 'normal' ? 25 : 12;
        const found = distance(colors[a], colors[b], sight);
        assert.ok(found >= least, `${sight}: heads ${b + 1} and ${a + 1} are ${found.toFixed(1)} apart, not ${least}`);
      }
};

// Nothing that asks for a pointer is printed.
const checkPrint = async page => {
  await page.emulateMedia({ media: 'print' });
  const printed = await page.evaluate(() =>
    [...document.querySelectorAll('main :is(select, .tools, #kinds, #layers, #step-buttons, .save, .jumps)')]
      .filter(control => control.getClientRects().length)
      .map(control => control.id || control.className),
  );
  assert.deepEqual(printed, []);
  assert.match(await text(page, '#matrix-title'), /layer \d/, 'the titles say what is chosen');
};

// A dark page is printed on white paper, with pictures that can be seen there.
const checkPaper = async page => {
  const inkOf = () =>
    page.evaluate(() => {
      const { data } = document.querySelector('.thumbnail canvas').getContext('2d').getImageData(0, 0, 1, 1);
      return { text: rgbOf('--text'), cell: [...data.slice(0, 3)] };
    });
  const dark = await inkOf();
  assert.ok(dark.text[0] > 200, `light text on a dark page: ${dark.text}`);
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
  await page.emulateMedia({ media: 'print' });
  assert.deepEqual((await inkOf()).text, [0x1b, 0x1f, 0x24]);
  assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), 'rgb(255, 255, 255)');
  await page.emulateMedia({ media: 'screen' });
  await page.evaluate(() => dispatchEvent(new Event('afterprint')));
  assert.deepEqual(await inkOf(), dark);
};

// Addresses that no page has written.
const WRONG = ['#sentence=99&layer=99&kind=none&heads=a,b&output=-1&unit=x&step=1.5', '#kind=decoder&layer=1e9&heads=,', '#heads=-1', '#heads=0.5', '#step=7', '#%'];

// What axe-core finds, and that nothing is wider than the page.
const checkLook = async (browser, name, options) => {
  const page = await open(browser, { ...options, bypassCSP: true });
  for (const fold of await page.locator('summary:visible').all()) await fold.click();
  if (screenshots) await page.screenshot({ path: path.join(screenshots, `${name}.png`), fullPage: true });
  await expectWellMade(page, axe);
  await page.context().close();
};

const checkWithoutScripts = async browser => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(pathToFileURL(path.resolve(large)).href);
  assert.deepEqual(await page.locator('main > :visible').evaluateAll(found => found.map(part => part.tagName)), [
    'H1',
    'NOSCRIPT',
  ]);
  await context.close();
};

const main = async () => {
  const browser = await chromium.launch({ executablePath, args: ARGUMENTS });
  const checked = new Runner();
  const onPage = async (options, check) => {
    const page = await open(browser, { acceptDownloads: true, ...options });
    await check(page);
    assert.deepEqual(page.faults, []);
    await page.context().close();
  };
  const end = async () => {
    await browser.close();
    process.exit(checked.failed ? 1 : 0);
  };
  const isSpeed = part === 'speed';
  for (const [name, check] of Object.entries(isSpeed ? speedChecks : checks))
    await checked.run(name, () => onPage({}, check));
  if (isSpeed) await end();
  for (const [name, check] of Object.entries(unusualChecks))
    await checked.run(name, () => onPage({ file: unusual }, check));
  await checked.run('a dark page is printed light', () => onPage({ colorScheme: 'dark' }, checkPaper));
  for (const colorScheme of ['light', 'dark'])
    await checked.run(`heads are told apart by every sight: ${colorScheme}`, () =>
      onPage({ colorScheme }, checkSights),
    );
  await checked.run('without scripts there is no empty part', () => checkWithoutScripts(browser));
  await checked.run('controls are not printed', () => onPage({}, checkPrint));
  for (const hash of WRONG)
    await checked.run(`a wrong address is put right: ${hash}`, () =>
      onPage({ hash }, async page => assert.ok(await page.locator('#lines svg path').count())),
    );
  for (const [name, options] of Object.entries({
    desktop: { viewport: DESKTOP, colorScheme: 'light' },
    'desktop, dark': { viewport: DESKTOP, colorScheme: 'dark' },
    phone: { viewport: PHONE, colorScheme: 'light' },
    'phone, unusual': { file: unusual, viewport: PHONE, colorScheme: 'dark' },
  }))
    await checked.run(`it looks well: ${name}`, () => checkLook(browser, name, options));
  await end();
};

main();
