/** Provider keys: a key that was sent with a request is removed from its failure, in any form in which it is returned. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { ProviderError, type ProviderFactory } from '../../src/core/message/provider.ts';
import { runAttempt } from '../../src/models/attempt.ts';
import { DEFAULT_ATTEMPT_LIMITS } from '../../src/models/attempt-plan.ts';
import { aiSdk, openaiCompatible } from '../../src/models/index.ts';
import { listCredentials, listEnvironmentKeys, redactKeys } from '../../src/models/redact.ts';
import { serveRudely } from './rude-server.ts';
import { ask, defineTestModel } from './support.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const KEY = 'plain/key+of&no known"look 4711';
const FORMS: [string, (key: string) => string][] = [
  ['as it is', (key) => key],
  ['in base64 behind a user', (key) => base64(`user:${key}`)],
  ['in base64, in JSON', (key) => JSON.stringify(base64(key)).replaceAll('/', '\\/')],
  ['with \\u0026', (key) => key.replaceAll('&', '\\u0026')],
  ['in a URL', encodeURI],
  ['in hex', (key) => Buffer.from(key).toString('hex')],
];

async function messageOf(provider: ProviderFactory): Promise<string> {
  const result = await runAttempt({
    model: defineTestModel('m', provider),
    request: () => ask('x'),
    signal: new AbortController().signal,
    limits: DEFAULT_ATTEMPT_LIMITS,
    requestTimeoutMs: 1000,
    onDelta: () => undefined,
    now: Date.now,
  });
  return result.ok ? 'an answer' : result.error.message;
}

/** A server that refuses and repeats the key it received, written in one form. */
async function refusing(write: (key: string) => string, use: (url: string) => Promise<void>): Promise<void> {
  const server = await serveRudely(({ authorization, 'x-api-key': other }) => {
    const sent = String(other ?? String(authorization).replace('Bearer ', ''));
    const body = JSON.stringify({ error: { message: `bad <${write(sent)}>` } });
    return { status: 401, headers: { 'content-type': 'application/json' }, body: [body] };
  });
  await use(server.url).finally(() => server.close());
}

describe('[definitions 5.5] the failure of a provider does not contain', () => {
  it.each(FORMS)('the key of openaiCompatible, %s', async (_title, write) => {
    await refusing(write, async (url) => {
      expect(await messageOf(openaiCompatible({ baseUrl: url, apiKey: KEY }))).toMatch(
        /bad <(\S*)\[redacted\]/,
      );
      const header = openaiCompatible({ baseUrl: url, headers: { 'x-api-key': KEY } });
      expect(await messageOf(header)).toMatch(/bad <(\S*)\[redacted\]/);
    });
  });

  it.each(FORMS)('the key that an AI SDK provider reads from the environment, %s', async (_title, write) => {
    process.env.EVERTHREAD_TEST_VENDOR_API_KEY = KEY;
    try {
      await refusing(write, async (url) => {
        const sdk = createOpenAICompatible({ name: 'any', baseURL: url, apiKey: KEY });
        expect(await messageOf(aiSdk((id) => sdk(id)))).toMatch(/bad <(\S*)\[redacted\]/);
      });
    } finally {
      delete process.env.EVERTHREAD_TEST_VENDOR_API_KEY;
    }
  });

  it('a key with a known format, also in an error of a custom provider', async () => {
    const own: ProviderFactory = () => ({
      name: 'own',
      specificationVersion: '1',
      generate: () => Promise.reject(new Error('not used')),
      stream: () =>
        Promise.reject(new ProviderError('401 for x-api-key: 0123456789abcdef', 'auth_error', 401)),
    });
    expect(await messageOf(own)).toMatch(/^401 for x-api-key: \[redacted\] No key was provided\. /);
  });
});

test('[definitions 5.5] credentials of a request are its key, secret headers, and secrets in its URL', () => {
  const told = listCredentials({
    apiKey: 'key-1',
    headers: { 'X-Api-Key': 'key-2', authorization: `Basic ${base64('me:pass-3')}`, accept: 'text/plain' },
    baseUrl: 'https://me:pa%2Fss-4@host/v1?api_key=key-5&version=6',
  });
  expect(told).toEqual(expect.arrayContaining(['key-1', 'key-2', 'pass-3', 'pa/ss-4', 'key-5']));
  expect(told).not.toContain('text/plain');
  expect(told).not.toContain('6');
});

test('[definitions 5.5] keys of the environment are recognised by the names of their variables', () => {
  const environment = {
    VENDOR_API_KEY: '0123456789ab',
    GITHUB_TOKEN: 'abcdefghijklm',
    KEYBOARD: 'qwertyuiopasdf',
    A_KEY: 'short',
  };
  expect(listEnvironmentKeys(environment)).toEqual(['0123456789ab', 'abcdefghijklm']);
});

test('[definitions 5.5] a message built to slow down the search for keys is searched once', () => {
  for (const piece of ['eyJ-', 'bearer ', 'sk-', '?key=', 'x-api-key ', 'authorization: ']) {
    const text = piece.repeat(16 * 1024);
    expect(redactKeys(text).length).toBeLessThanOrEqual(text.length * 2);
  }
});
