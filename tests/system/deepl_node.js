// The checks of deepl_node.py: what the package deepl-node sees of a server.
// Usage: node deepl_node.js MODULES ADDRESS FOLDER

const assert = require('node:assert');
const fs = require('node:fs');
const path = require('node:path');

const [modules, serverUrl, folder] = process.argv.slice(2);
const deepl = require(path.join(modules, 'deepl-node'));
const client = new deepl.DeepLClient('alpha', {serverUrl});
const texts = ['The old man reads a book in the garden.', 'Two children are playing with the dog.'];

async function checkTexts() {
  const results = await client.translateText(texts, null, 'de', {modelType: 'quality_optimized'});
  for (const [place, result] of results.entries()) {
    assert.strictEqual(result.detectedSourceLang, 'en');
    assert.strictEqual(result.billedCharacters, texts[place].length);
    assert.strictEqual(result.modelTypeUsed, 'quality_optimized');
  }
  const html = await client.translateText(`<p>${texts[0]}</p>`, 'en', 'de', {tagHandling: 'html'});
  assert.strictEqual(html.text, `<p>${results[0].text}</p>`);
  await assert.rejects(client.translateText('dog', null, 'fr'), deepl.DeepLError);
  await assert.rejects(client.rephraseText('A dog.', 'en-US'), /Not found, message/);
  const stranger = new deepl.DeepLClient('beta', {serverUrl});
  await assert.rejects(stranger.getUsage(), deepl.AuthorizationError);
  return results.map((result) => result.text);
}

async function checkFacts() {
  assert((await client.getUsage()).character.count > 0);
  assert.deepStrictEqual((await client.getSourceLanguages()).map(({code}) => code), ['de', 'en']);
  const targets = (await client.getTargetLanguages()).map(({code}) => code);
  assert.deepStrictEqual(targets, ['de', 'en-GB', 'en-US']);
  assert.strictEqual((await client.getGlossaryLanguagePairs()).length, 2);
}

async function checkDocuments(expected) {
  const letter = path.join(folder, 'letter.txt');
  fs.writeFileSync(letter, texts.join('\n'));
  const translated = path.join(folder, 'brief.txt');
  const status = await client.translateDocument(letter, translated, null, 'de');
  assert.strictEqual(fs.readFileSync(translated, 'utf8'), expected.join('\n'));
  assert.strictEqual(status.billedCharacters, texts.join('\n').length);
  const handle = await client.uploadDocument(letter, 'en', 'de');
  await client.isDocumentTranslationComplete(handle);
  await client.downloadDocument(handle, path.join(folder, 'once.txt'));
  await assert.rejects(client.downloadDocument(handle, path.join(folder, 'twice.txt')), /Not found/);
}

async function checkGlossaries() {
  const entries = new deepl.GlossaryEntries({entries: {dog: 'Hund', 'old man': 'Alte'}});
  const made = await client.createGlossary('mine', 'en', 'de', entries);
  assert.deepStrictEqual((await client.getGlossaryEntries(made)).entries(), entries.entries());
  assert.strictEqual((await client.listGlossaries())[0].glossaryId, made.glossaryId);
  await client.translateText(texts[1], 'en', 'de', {glossary: made});
  await client.deleteGlossary(made);
  await assert.rejects(client.getGlossary(made.glossaryId), deepl.GlossaryNotFoundError);
}

async function checkMultilingualGlossaries() {
  const dictionary = (source, target, entries) => (
    {sourceLangCode: source, targetLangCode: target, entries: new deepl.GlossaryEntries({entries})});
  const made = await client.createMultilingualGlossary(
    'both', [dictionary('en', 'de', {dog: 'Hund'}), dictionary('de', 'en', {Hund: 'hound'})]);
  assert.deepStrictEqual(made.dictionaries.map(({entryCount}) => entryCount), [1, 1]);
  const entries = async () =>
    (await client.getMultilingualGlossaryDictionaryEntries(made, 'en', 'de')).entries.entries();
  await client.updateMultilingualGlossaryDictionary(made, dictionary('en', 'de', {garden: 'Park'}));
  assert.deepStrictEqual(await entries(), {dog: 'Hund', garden: 'Park'});
  await client.replaceMultilingualGlossaryDictionary(made, dictionary('en', 'de', {cat: 'Katze'}));
  assert.deepStrictEqual(await entries(), {cat: 'Katze'});
  assert.strictEqual((await client.updateMultilingualGlossaryName(made, 'other')).name, 'other');
  await client.translateText(texts[1], 'en', 'de', {glossary: made});
  await client.deleteMultilingualGlossaryDictionary(made, 'en', 'de');
  await assert.rejects(entries(), deepl.GlossaryNotFoundError);
  assert.strictEqual((await client.listMultilingualGlossaries()).length, 1);
  await client.deleteMultilingualGlossary(made);
  const csv = await client.createMultilingualGlossaryWithCsv('csv', 'en', 'de', 'dog,"Hund, alt"');
  assert.strictEqual(csv.dictionaries[0].entryCount, 1);
}

async function main() {
  const expected = await checkTexts();
  await checkFacts();
  await checkDocuments(expected);
  await checkGlossaries();
  await checkMultilingualGlossaries();
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
