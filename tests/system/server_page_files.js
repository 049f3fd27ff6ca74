// What a reader sees of the files that the page of dragoman serve translates: checks of server_page.js.
const assert = require('node:assert/strict');
const fs = require('node:fs');

const { SENTENCE, drop } = require('./server_page_reader.js');

module.exports = {
  async 'of several files the page says which is translated'(page) {
    await drop(page, 'a.txt', [...Buffer.from('A dog.\n')], 'b.txt', 'c.txt');
    await page.locator('#file-link').waitFor();
    assert.equal(await page.locator('#file-error').textContent(), 'One file at a time: only a.txt is translated.');
  },

  async 'a file is translated, with its lines'(page) {
    const lines = Array.from({ length: 150 }, (_, i) => (i % 10 === 3 ? '' : `${SENTENCE} A dog is running.`));
    await page.locator('#file').setInputFiles({
      name: 'a letter.txt', mimeType: 'text/plain', buffer: Buffer.from(`${lines.join('\r\n')}\r\n`),
    });
    await page.locator('#file-link').waitFor();
    const [download] = await Promise.all([page.waitForEvent('download'), page.locator('#file-link').click()]);
    assert.equal(download.suggestedFilename(), 'a letter.de.txt');
    const translated = fs.readFileSync(await download.path(), 'utf8').split('\r\n');
    assert.equal(translated.length, lines.length + 1);
    assert.deepEqual(translated.map(line => line === ''), [...lines, ''].map(line => line === ''));
    await page.locator('#file-cancel').click();
    assert.equal(await page.locator('#file-panel').isVisible(), false);
  },

  async 'the portions of a file are no longer than a request may be'(page) {
    await page.route('**/frontend/settings', async route => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), charLimit: 150 } });
    });
    await page.reload();
    await page.waitForFunction(() => document.querySelector('#file').accept);
    const sizes = [];
    page.on('request', request => {
      if (!request.url().endsWith('/translate')) return;
      const { q, terms } = request.postDataJSON();
      sizes.push(q.length + terms.length);
    });
    await page.locator('#terms').evaluate(field => (field.value = 'garden=Lustgarten'));
    await drop(page, 'a.txt', [...Buffer.from(`${SENTENCE}\n`.repeat(20))]);
    await page.locator('#file-link').waitFor();
    assert.ok(Math.max(...sizes) <= 150);
    assert.equal(sizes.length, 7, 'three lines each');
  },

  async 'a file has one language, that of its beginning'(page) {
    const sources = [];
    page.on('request', request => {
      if (request.url().endsWith('/translate')) sources.push(request.postDataJSON().source);
    });
    const lines = `${SENTENCE}\n`.repeat(60) + 'Der Hund und die Katze laufen durch den Garten.\n'.repeat(100);
    await page.locator('#file').setInputFiles({ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from(lines) });
    await page.locator('#file-link').waitFor();
    assert.ok(sources.length >= 3);
    assert.deepEqual([...new Set(sources)], ['auto', 'en']);
    assert.equal(sources.lastIndexOf('auto'), 0);
  },

  async 'a file that is dropped is translated, with its markup'(page) {
    const kinds = {
      'small.TXT': ['A dog is running.\n', /^[^\n]+\n$/],
      'page.html': ['<p>A <b>dog</b> is running.</p>\n', /^<p>.*<b>.*<\/b>.*<\/p>\n$/],
      'film.srt': [
        '1\n00:00:01,000 --> 00:00:02,500\nA dog\n\n2\n00:00:03,000 --> 00:00:04,000\nis running.\n',
        /^1\n00:00:01,000 --> 00:00:02,500\n[^\n]*\n\n2\n00:00:03,000 --> 00:00:04,000\n[^\n]*\n$/,
      ],
      'messages.po': [
        'msgid "A dog is running to %s."\nmsgstr ""\n',
        /^msgid "A dog is running to %s\."\nmsgstr "[^"]*%s[^"]*"\n$/,
      ],
      'page.md': ['# A dog\n\nA dog is `running`.\n', /^# .*\n\n[^\n]*`running`[^\n]*\n$/],
    };
    for (const [name, [written, expected]] of Object.entries(kinds)) {
      await drop(page, name, [...Buffer.from(written)]);
      const translated = name.replace('.', '.de.');
      await page.waitForFunction(known => {
        const link = document.querySelector('#file-link');
        return !link.hidden && link.download === known;
      }, translated);
      const [download] = await Promise.all([page.waitForEvent('download'), page.locator('#file-link').click()]);
      assert.match(fs.readFileSync(await download.path(), 'utf8'), expected, name);
    }
  },

  async 'the language between two is said of a file, too'(page) {
    for (const [asked, name] of Object.entries({ '**/translate': 'a.txt', '**/translate_file': 'a.md' })) {
      await page.route(asked, async route => {
        const response = await route.fetch();
        await route.fulfill({ response, json: { ...(await response.json()), pivotLanguage: 'en' } });
      });
      await drop(page, name, [...Buffer.from('A dog.\n')]);
      await page.waitForFunction(
        known => document.querySelector('#file-name').textContent === known &&
          document.querySelector('#file-state').textContent === 'is translated by way of English',
        name,
      );
    }
  },

  async 'what may be dropped is said before'(page) {
    assert.match(await page.locator('#choose-file').innerText(), /drop a file/);
    const kinds = await page.locator('#count').innerText();
    assert.match(kinds, /^Files: \.txt of any size; \.html, .*\.srt, .* up to 2 MiB$/);
  },

  async 'a file that is refused takes the place of an earlier one, and its card says why'(page) {
    const refused = async (name, bytes, reason) => {
      await drop(page, 'a.txt', [...Buffer.from('A dog.\n')]);
      await page.locator('#file-link').waitFor();
      await drop(page, name, bytes);
      await page.waitForFunction(known => document.querySelector('#file-name').textContent === known, name);
      await page.waitForFunction(
        expected => document.querySelector('#file-error').textContent.includes(expected), reason,
      );
      assert.equal(await page.locator('#file-link').isVisible(), false);
      assert.equal(await page.locator('#file-state').textContent(), 'is not translated');
    };
    page.expected = message => message.includes('400');
    await refused('picture.png', [1, 2, 3], 'Files that can be translated: .txt, ');
    await refused('latin1.txt', [0xe4, 0x0a], 'UTF-8');
    await refused('broken.xml', [...Buffer.from('<a>A dog.')], 'xml');
    await refused('large.srt', Array(3 << 20).fill(0x61), 'It has 3 MiB. The limit is 2 MiB.');
    await page.locator('#file-cancel').click();
    assert.equal(await page.locator('#file-panel').isVisible(), false);
  },
};
