// Of one model on 45 lines, of which the second is explained: see page_of_a_model() in pages.py.
const explained = all('#sentences .explained');
expect('each sentence leads to its explanation', explained.length, 20);
expect('by a link where the page is there', explained[1].getAttribute('href'), './a%20b.explanations/1-2.html');
const command = explained[2].querySelector('code').textContent;
expect('or else by the command', /^dragoman explain -m '[^']+' 'die Katze 3 sitzt' -o line-3.html$/.test(command), true);
const commandNow = () => explanationOf(0, 2)[1].querySelector('code').textContent;
data.search = '--beam-size 1';
expect('with the flags of the search', commandNow().endsWith("'die Katze 3 sitzt' --beam-size 1 -o line-3.html"), true);
data.search = null;
expect('or with the translation', commandNow().endsWith(`--target ${shellQuoted(data.translations[0][2])} -o line-3.html`), true);
expect('a quote in a text is quoted', shellQuoted("a'b"), "'a'\\''b'");
finish();
