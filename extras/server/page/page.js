// Translates while the reader types. Without this script the form does the same.
import { Files, sizeText } from './files.js';
import { Glossary } from './glossary.js';
import * as server from './server.js';
import { Words, element } from './words.js';

const PAUSE = 250; // ms without a key before a request
const ALTERNATIVES = 2;
const LONGEST_WITH_ALTERNATIVES = 500; // characters
const SHORT_WAIT = 3; // seconds

const byId = id => document.getElementById(id);
const [text, result, source, target, terms, key] = [
  'text', 'result', 'source', 'target', 'terms', 'key',
].map(byId);

document.documentElement.classList.add('scripting');

const words = new Words(text, byId('mirror'), result);
const glossary = new Glossary(terms, byId('terms-note'));
let settings = { charLimit: -1, bodyLimit: Infinity, supportedFilesFormat: [] };
let known = []; // the languages and their targets
let translation = '';
let pivot; // the language between, if there is one
let running = null;

// If the browser keeps nothing, nothing is remembered.
const remembered = (storage, name) => {
  try {
    return window[storage].getItem(`dragoman.${name}`);
  } catch {
    return null;
  }
};
const remember = (storage, name, value) => {
  try {
    window[storage].setItem(`dragoman.${name}`, value);
  } catch {
    // as said above
  }
};

// An error stands beside its cause: the text, the glossary (terms) or the key. Others stand beside the
// translation.
const showError = (message, cause = '') => {
  for (const place of ['', 'text', 'terms', 'key'])
    byId(place ? `${place}-error` : 'error').textContent = place === cause ? message : '';
  for (const field of [text, terms, key])
    field.setAttribute('aria-invalid', message !== '' && field.id === cause);
  if (message && cause === 'terms') byId('glossary').open = true;
};
const showStatus = message => {
  byId('status').textContent = message;
};
const showWait = (seconds, message) =>
  seconds > SHORT_WAIT ? showError(message) : showStatus(message);
const nameOf = code => known.find(language => language.code === code)?.name || code;
const wayOf = pivot => (pivot ? `by way of ${nameOf(pivot)}` : '');

const formParameters = () => ({
  source: source.value,
  target: target.value,
  ...(glossary.terms && { terms: glossary.terms }),
  ...(key.value && { api_key: key.value }),
});

const counted = number => `${number.toLocaleString('en')} ${number === 1 ? 'character' : 'characters'}`;
const lengthOf = written => [...written].length;

// What may be opened, before there is a text.
const kindsOfFiles = () => {
  const others = settings.supportedFilesFormat.filter(ending => ending !== '.txt');
  return others.length === 0
    ? ''
    : `Files: .txt of any size; ${others.join(', ')} up to ${sizeText(settings.bodyLimit)}`;
};

const showCount = () => {
  const length = lengthOf(text.value);
  const limit = settings.charLimit;
  byId('count').textContent =
    length === 0 ? kindsOfFiles()
    : limit >= 0 && length * 2 > limit ? `${length.toLocaleString('en')} of ${counted(limit)}`
    : counted(length);
  byId('clear').hidden = length === 0;
};

// The server counts the text and the terms together.
const excess = () =>
  settings.charLimit < 0 ? 0 : lengthOf(text.value) + lengthOf(glossary.terms) - settings.charLimit;
const excessText = characters =>
  `The text${glossary.terms ? ' and the glossary have' : ' has'} ${counted(characters)} too many; ` +
  `the limit is ${counted(settings.charLimit)}.`;

const showAlternatives = alternatives => {
  byId('alternatives').hidden = alternatives.length === 0;
  byId('alternatives-list').replaceChildren(
    ...alternatives.map(other => {
      const take = element('button', { type: 'button', class: 'plain' }, 'Take');
      take.ariaLabel = `Take: ${other}`;
      take.addEventListener('click', () => {
        const shown = translation;
        show({
          translatedText: other,
          alternatives: alternatives.map(o => (o === other ? shown : o)),
          pivotLanguage: pivot,
        });
        result.focus();
      });
      return element('li', {}, element('span', { dir: 'auto', lang: target.value }, other), take);
    }),
  );
};

const show = answer => {
  translation = answer.translatedText;
  const links = answer.alignment || [];
  const unsure = words.show(translation, answer.wordScores || [], links);
  byId('legend').hidden = !unsure && links.length === 0;
  byId('unsure-legend').hidden = !unsure;
  byId('link-legend').hidden = links.length === 0;
  byId('copy').disabled = translation === '';
  pivot = answer.pivotLanguage;
  showExplain();
  showAlternatives(answer.alternatives || []);
};

const showLanguage = answer => {
  const detected = answer.detectedLanguage;
  result.lang = target.value;
  text.lang = detected ? detected.language : source.value;
  showSwap();
  if (detected?.language === target.value)
    return showStatus(`The text is ${nameOf(detected.language)} already.`);
  const from = detected ? `Detected: ${nameOf(detected.language)} (${Math.round(detected.confidence)} %)` : '';
  showStatus([from, wayOf(answer.pivotLanguage)].filter(Boolean).join(', '));
};

const clear = () => {
  document.body.classList.remove('old');
  showError('');
  showStatus('');
  show({ translatedText: '' });
};

// What is under way is for a text, a language or a term that has changed.
const giveUp = () => {
  running?.abort();
  running = null;
};

// If the server refuses the terms, the text is translated without them. `termsError` says why.
const answerTo = async (parameters, signal) => {
  const ask = asked =>
    server.patiently(() => server.translate(asked, signal), { signal, tries: 5, onWait: showWait });
  try {
    return await ask(parameters);
  } catch (error) {
    if (error.cause !== 'terms') throw error;
    return { ...(await ask({ ...parameters, terms: '' })), termsError: error.message };
  }
};

const translate = async () => {
  giveUp();
  const mine = (running = new AbortController());
  if (!text.value.trim()) return clear();
  if (excess() > 0) {
    clear();
    return showError(excessText(excess()), 'text');
  }
  const parameters = { ...formParameters(), q: text.value, alignment: true, word_scores: true };
  if (text.value.length <= LONGEST_WITH_ALTERNATIVES) parameters.alternatives = ALTERNATIVES;
  document.body.classList.add('old');
  try {
    const answer = await answerTo(parameters, mine.signal);
    if (mine !== running) return;
    showError(answer.termsError || '', 'terms');
    show(answer);
    showLanguage(answer);
  } catch (error) {
    if (mine !== running) return;
    clear();
    showError(error.message, error.cause);
  }
  document.body.classList.remove('old');
};

// The tab keeps the form for when it is loaded again; the server keeps nothing.
const form = () => ({
  source: source.value, target: target.value, text: text.value, terms: terms.value,
});
const fillForm = ({ terms: lines, text: written, ...languages }) => {
  for (const select of [source, target])
    if ([...select.options].some(option => option.value === languages[select.id]))
      select.value = languages[select.id];
  [text.value, terms.value] = [written, lines];
};
const keepForm = () => remember('sessionStorage', 'form', JSON.stringify(form()));

let timer = 0;
const translateSoon = () => {
  giveUp();
  keepForm();
  document.body.classList.add('old');
  clearTimeout(timer);
  timer = setTimeout(translate, PAUSE);
};
const translateNow = () => {
  clearTimeout(timer);
  return translate();
};

// Only targets that the source can be translated into.
const fitTargets = () => {
  const from = known.find(language => language.code === source.value);
  for (const option of target.options)
    option.disabled = !!from && (!from.targets.includes(option.value) || option.value === source.value);
  if (target.selectedOptions[0]?.disabled)
    target.value = [...target.options].find(option => !option.disabled)?.value || target.value;
  showSwap();
};

// The languages in exchange, if they can be exchanged.
const otherWay = () => {
  const from = source.value === 'auto' ? text.lang : source.value;
  const has = (select, code) => [...select.options].some(option => option.value === code);
  const back = known.find(language => language.code === target.value);
  if (!from || from === target.value || (back && !back.targets.includes(from))) return null;
  return has(source, target.value) && has(target, from) ? { source: target.value, target: from } : null;
};

// The form before the last exchange and after it. A second one takes the first back.
let exchange = null;
const takesBack = () => exchange !== null && JSON.stringify(form()) === JSON.stringify(exchange.after);

const showSwap = () => {
  byId('swap').disabled = !takesBack() && otherWay() === null;
};

const swap = () => {
  if (takesBack()) {
    fillForm(exchange.before);
    exchange = null;
  } else {
    const before = form();
    fillForm({ ...before, ...otherWay(), text: translation || text.value });
    glossary.swap();
    exchange = { before, after: form() };
  }
  glossary.showUnfinished();
  changeLanguages();
};

const changeLanguages = () => {
  fitTargets();
  remember('localStorage', 'source', source.value);
  remember('localStorage', 'target', target.value);
  changeText();
  translateNow();
};

const changeText = () => {
  words.copyField();
  showCount();
  showSwap();
  keepForm();
};

// The page about a translation opens beside this one.
const showExplain = () => {
  const button = byId('explain');
  const most = Number(button.dataset.most);
  const reason =
    terms.value.trim() ? 'Explain works without a glossary only.'
    : lengthOf(text.value) > most ? `Explain takes ${most.toLocaleString('en')} characters at most.`
    : pivot ? 'Explain needs a model that translates directly.'
    : '';
  button.disabled = translation === '' || reason !== '';
  byId('explain-note').textContent = translation === '' || button.hidden ? '' : reason;
};

const copy = async () => {
  try {
    await navigator.clipboard.writeText(translation);
  } catch {
    // Without a secure connection the browser has no clipboard; an old way is left.
    const field = element('textarea', {});
    field.value = translation;
    document.body.append(field);
    field.select();
    document.execCommand('copy');
    field.remove();
    byId('copy').focus();
  }
  byId('copy').textContent = 'Copied';
  setTimeout(() => (byId('copy').textContent = 'Copy'), 1500);
};

const takeFiles = files => {
  const [file] = files;
  if (!file) return;
  const ending = (file.name.match(/\.[^.]*$/) || [''])[0].toLowerCase();
  const { supportedFilesFormat: taken, bodyLimit } = settings;
  if (!taken.includes(ending))
    return fileTranslations.refuse(file, `Files that can be translated: ${taken.join(', ')}.`);
  if (ending !== '.txt' && file.size > bodyLimit)
    return fileTranslations.refuse(
      file, `It has ${sizeText(file.size)}. The limit is ${sizeText(bodyLimit)}.`,
    );
  return fileTranslations.translate(
    file, files.length === 1 ? '' : `One file at a time: only ${file.name} is translated.`,
  );
};

const fileTranslations = new Files(formParameters, () => settings.charLimit, wayOf);

const listen = () => {
  text.addEventListener('input', () => {
    changeText();
    translateSoon();
  });
  terms.addEventListener('input', () => {
    glossary.showUnfinished();
    showExplain();
    showSwap();
    translateSoon();
  });
  key.addEventListener('input', () => {
    remember('sessionStorage', 'key', key.value);
    translateSoon();
  });
  for (const select of [source, target]) select.addEventListener('change', changeLanguages);
  byId('swap').addEventListener('click', swap);
  byId('copy').addEventListener('click', copy);
  byId('explain').addEventListener('click', () => byId('form').requestSubmit(byId('explain-page')));
  byId('clear').addEventListener('click', () => {
    text.value = '';
    changeText();
    translateNow();
    text.focus();
  });
  byId('choose-file').addEventListener('click', () => byId('file').click());
  byId('file').addEventListener('change', event => {
    takeFiles(event.target.files);
    event.target.value = '';
  });
  byId('form').addEventListener('submit', event => {
    if (event.submitter === byId('explain-page')) return;
    event.preventDefault();
    translateNow();
  });
  document.addEventListener('keydown', event => {
    if ((event.ctrlKey || event.metaKey) && event.key === 'Enter') translateNow();
  });
  const pane = byId('written').parentElement;
  const hasFiles = event => event.dataTransfer?.types.includes('Files');
  document.addEventListener('dragover', event => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    pane.classList.add('dropping');
  });
  document.addEventListener('dragleave', event => {
    if (!event.relatedTarget) pane.classList.remove('dropping');
  });
  document.addEventListener('drop', event => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    pane.classList.remove('dropping');
    takeFiles(event.dataTransfer.files);
  });
};

const recallLanguages = () => {
  for (const select of [source, target]) {
    const value = remembered('localStorage', select.id);
    if ([...select.options].some(option => option.value === value)) select.value = value;
  }
};

// What the tab has kept, unless an address has been opened that has a text.
const recallForm = () => {
  const isNew = performance.getEntriesByType('navigation')[0]?.type === 'navigate';
  const kept = JSON.parse(remembered('sessionStorage', 'form') || '{}');
  if ((kept.text || kept.terms) && !(isNew && text.value)) fillForm(kept);
  else if (!text.value) recallLanguages(); // otherwise the server has filled the form
  if (terms.value.trim()) byId('glossary').open = true;
};

const begin = async () => {
  listen();
  recallForm();
  if (!key.value) key.value = remembered('sessionStorage', 'key') || '';
  changeText();
  glossary.showUnfinished();
  byId('copy').disabled = byId('explain').disabled = true;
  try {
    [known, settings] = await Promise.all([server.languages(), server.settings()]);
  } catch (error) {
    showError(error.message);
  }
  byId('file').accept = settings.supportedFilesFormat.join(',');
  byId('choose-file').hidden = settings.supportedFilesFormat.length === 0;
  fitTargets();
  changeText();
  if (text.value && !byId('error').textContent) translate();
  if (matchMedia('(hover: hover)').matches) text.focus();
};

begin();
