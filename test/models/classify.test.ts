import { APICallError } from '@ai-sdk/provider';
import OpenAI from 'openai';
import { ProviderError, type ProviderErrorCode } from '../../src/core/message/provider.ts';
import { classifyError, isRetryable } from '../../src/models/classify.ts';

const now = Date.UTC(2026, 0, 1, 12, 0, 0);

function openaiError(status: number, headers: Record<string, string> = {}, message = 'no'): Error {
  return OpenAI.APIError.generate(status, { error: { message } }, undefined, new Headers(headers));
}

function aiSdkError(statusCode: number | undefined, responseHeaders: Record<string, string> = {}): Error {
  return new APICallError({
    message: 'no',
    url: 'http://x',
    requestBodyValues: {},
    statusCode,
    responseHeaders,
  });
}

/** An error as fetch throws it: with the system's error as its cause. */
function fetchError(code: string): Error {
  return new TypeError('fetch failed', { cause: Object.assign(new Error(`connect ${code}`), { code }) });
}

const STATUSES: [number, ProviderErrorCode, boolean][] = [
  [400, 'invalid_request', false],
  [401, 'auth_error', false],
  [402, 'invalid_request', false],
  [403, 'auth_error', false],
  [404, 'invalid_request', false],
  [408, 'timeout', true],
  [409, 'server_error', true],
  [413, 'invalid_request', false],
  [422, 'invalid_request', false],
  [425, 'server_error', true],
  [429, 'rate_limit', true],
  [500, 'server_error', true],
  [502, 'server_error', true],
  [503, 'server_error', true],
  [504, 'timeout', true],
  [529, 'server_error', true],
];

test.each(STATUSES)('[definitions 5.5] status %i is %s, retryable: %s', (status, code, retryable) => {
  for (const thrown of [openaiError(status), aiSdkError(status), { status, message: 'no' }]) {
    const error = classifyError(thrown, { now });
    expect(error).toMatchObject({ name: 'ProviderError', code, statusCode: status });
    expect(isRetryable(error)).toBe(retryable);
  }
});

const THROWN: [string, unknown, ProviderErrorCode, boolean][] = [
  ['a refused connection', fetchError('ECONNREFUSED'), 'server_error', true],
  ['a reset connection', fetchError('ECONNRESET'), 'server_error', true],
  ['an unknown host', fetchError('ENOTFOUND'), 'server_error', true],
  ['a slow connection', fetchError('UND_ERR_CONNECT_TIMEOUT'), 'timeout', true],
  ['slow headers', fetchError('UND_ERR_HEADERS_TIMEOUT'), 'timeout', true],
  ['a cut body', new TypeError('terminated'), 'server_error', true],
  ['an abort', new DOMException('This operation was aborted', 'AbortError'), 'timeout', true],
  ['a timeout signal', new DOMException('The operation timed out.', 'TimeoutError'), 'timeout', true],
  ['the abort of the openai SDK', new OpenAI.APIUserAbortError(), 'timeout', true],
  ['the timeout of the openai SDK', new OpenAI.APIConnectionTimeoutError(), 'timeout', true],
  ['the connection error of the openai SDK', new OpenAI.APIConnectionError({}), 'server_error', true],
  ['an AI SDK error without a status', aiSdkError(undefined), 'unknown', true],
  ['an error within a stream', { message: 'x', type: 'overloaded_error' }, 'server_error', true],
  [
    'a limit within a stream',
    { message: 'x', type: 'tokens', code: 'rate_limit_exceeded' },
    'rate_limit',
    true,
  ],
  ['a refusal within a stream', { message: 'x', type: 'invalid_request_error' }, 'invalid_request', false],
  ['a key refused within a stream', { message: 'x', code: 'invalid_api_key' }, 'auth_error', false],
  ['a status within a stream', { message: 'x', code: 502 }, 'server_error', true],
  ['a mistake in a backend', new RangeError('Invalid array length'), 'unknown', true],
  ['a text', 'something else', 'unknown', true],
  ['nothing', undefined, 'unknown', true],
];

test.each(THROWN)('[definitions 5.5] %s is classified by its shape', (_title, thrown, code, retryable) => {
  const error = classifyError(thrown, { now });
  expect(error.code).toBe(code);
  expect(isRetryable(error)).toBe(retryable);
});

test('[definitions 5.5] a ProviderError passes through unchanged, from any realm', () => {
  const own = new ProviderError('mine', 'rate_limit', undefined, 3);
  expect(classifyError(own, { now })).toBe(own);
  const foreign = { name: 'ProviderError', code: 'timeout', message: 'theirs' };
  expect(classifyError(foreign, { now })).toBe(foreign);
});

test.each<[Record<string, string>, number | undefined]>([
  [{ 'retry-after': '20' }, 20],
  [{ 'retry-after': '1.5' }, 1.5],
  [{ 'retry-after-ms': '250' }, 0.25],
  [{ 'retry-after-ms': '250', 'retry-after': '20' }, 0.25],
  [{ 'retry-after': 'Thu, 01 Jan 2026 12:00:30 GMT' }, 30],
  [{ 'retry-after': 'Thu, 01 Jan 2026 11:00:00 GMT' }, 0],
  [{ 'retry-after': 'Thu, 01 Jan 2026 07:00:30 GMT', date: 'Thu, 01 Jan 2026 07:00:00 GMT' }, 30],
  [{ 'retry-after': 'Thu, 01 Jan 2026 17:00:30 GMT', date: 'Thu, 01 Jan 2026 17:00:00 GMT' }, 30],
  [{ 'retry-after': 'soon' }, undefined],
  [{}, undefined],
])('[definitions 5.5] the headers %j ask to wait %s seconds', (headers, seconds) => {
  expect(classifyError(openaiError(429, headers), { now }).retryAfter).toBe(seconds);
  expect(classifyError(aiSdkError(429, headers), { now }).retryAfter).toBe(seconds);
});

test.each([
  [400, 'true', true],
  [500, 'false', false],
  [429, 'false', false],
  [400, 'maybe', false],
])('[definitions 5.5] status %i with x-should-retry %s is retryable: %s', (status, told, retryable) => {
  const headers = { 'X-Should-Retry': told };
  for (const thrown of [openaiError(status, headers), aiSdkError(status, headers)]) {
    expect(isRetryable(classifyError(thrown, { now }))).toBe(retryable);
  }
});

test('[definitions 5.5] a message names the system error that caused it', () => {
  expect(classifyError(fetchError('ECONNREFUSED'), { now }).message).toBe('fetch failed (ECONNREFUSED)');
});

test.each([
  'sk-proj-abcdefgh12345678',
  'gsk_abcdefgh12345678',
  'AIzaSyA1234567890abcdefghijk',
  'eyJhbGciOiJI.eyJzdWIiOiIx.c2ln',
  'my own secret',
])('[definitions 5.5] the key %s is in neither message nor cause', (key) => {
  const thrown = openaiError(401, {}, `Incorrect API key provided: ${key}. See your account.`);
  const error = classifyError(thrown, { now, secrets: ['my own secret'] });
  expect(error.message).toBe('401 Incorrect API key provided: [redacted]. See your account.');
  expect(JSON.stringify(error.cause)).not.toContain(key);
});

test('[definitions 5.5] an error page is truncated in the message', () => {
  const error = classifyError(openaiError(502, {}, 'x'.repeat(100_000)), { now });
  expect(error.message.length).toBeLessThan(2100);
});
