// Requests to the server that the page comes from.

const headers = { 'Content-Type': 'application/json' };

// The part of the form that an error is about; '' for none.
const causeOf = (status, message) => {
  if (/\bAPI key\b/.test(message)) return 'key';
  if (/\bterms\b/.test(message)) return 'terms';
  return status === 413 || /text limit/.test(message) ? 'text' : '';
};

class Refusal extends Error {
  constructor(status, message, retryAfter) {
    super(message.replace(/^Invalid request: (terms parameter: )?/, ''));
    this.cause = causeOf(status, message);
    this.retryAfter = retryAfter; // seconds; 0: the same request will not succeed
  }
}

const messageOf = async response => {
  try {
    return (await response.json()).error || response.statusText;
  } catch {
    return response.statusText || `The server answers ${response.status}.`;
  }
};

const ask = async (path, options) => {
  let response;
  try {
    response = await fetch(path, options);
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Refusal(0, 'The server cannot be reached.', 3);
  }
  if (response.ok) return response.json();
  const pause = Number(response.headers.get('Retry-After')) || 0;
  throw new Refusal(response.status, await messageOf(response), pause);
};

const pause = (milliseconds, signal) =>
  new Promise((done, failed) => {
    const timer = setTimeout(done, milliseconds);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      failed(new DOMException('given up', 'AbortError'));
    });
  });

// Tries again, as long as the server asks for a pause only. `onWait` is told the seconds of each
// pause, and why it is.
export const patiently = async (request, { signal, tries = 20, onWait }) => {
  for (;;) {
    try {
      return await request();
    } catch (error) {
      if (signal.aborted || !error.retryAfter || --tries <= 0) throw error;
      const next = `the next try is in ${error.retryAfter} s.`;
      onWait(error.retryAfter, `${error.message.replace(/\.$/, '')}; ${next}`);
      await pause(error.retryAfter * 1000, signal);
    }
  }
};

export const languages = () => ask('languages');
export const settings = () => ask('frontend/settings');

export const translate = (parameters, signal) =>
  ask('translate', { method: 'POST', headers, body: JSON.stringify(parameters), signal });

export const translateFile = (file, parameters, signal) => {
  const body = new FormData();
  for (const [name, value] of Object.entries(parameters)) body.append(name, value);
  body.append('file', file, file.name);
  return ask('translate_file', { method: 'POST', body, signal });
};
