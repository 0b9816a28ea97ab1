/**
 * Errors that say nothing: whatever the other side of an outward port throws, the text that people and models read
 * tells something, and never what JavaScript makes of nothing.
 */
import { describe, expect, it } from '@jest/globals';
import { toHttpConnection } from '../../src/client/http/http-place.ts';
import { requestJson } from '../../src/client/http/patience.ts';
import { errorMessage } from '../../src/core/value/thrown.ts';
import { askBackend } from '../../src/faces/tangle/backend/retry.ts';
import { getModels } from '../../src/faces/tangle/models.ts';
import { classifyError } from '../../src/models/classify.ts';
import { ProviderError } from '../../src/models/index.ts';
import { toFailure as a2aFailure } from '../../src/remote/a2a/failure.ts';
import { toFailure as mcpFailure } from '../../src/remote/mcp/failure.ts';
import { toStoredError } from '../../src/workflows/activities.ts';

class Silent {}

const SILENT: [string, () => unknown][] = [
  ['nothing', () => undefined],
  ['null', () => null],
  ['an empty text', () => ''],
  ['an error without a message', () => new Error('')],
  ['an error whose message is no text', () => Object.assign(new Error('x'), { message: undefined })],
  ['an error whose message is an object', () => Object.assign(new Error('x'), { message: {} })],
  ['an instance of a class', () => new Silent()],
  ['several errors without a message', () => new AggregateError([new Error('')], '')],
  ['a failed fetch whose cause says nothing', () => new TypeError('fetch failed', { cause: new Error('') })],
];

const signal = new AbortController().signal;
const messageOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'no failure at all',
    (error) => String(error.message),
  );

const PORTS: [string, (thrown: unknown) => string | Promise<string>][] = [
  ['any sentence', errorMessage],
  ['a provider', (thrown) => classifyError(thrown, { now: 0 }).message],
  [
    'a provider, as an error of its own',
    () => classifyError(new ProviderError('', 'server_error'), { now: 0 }).message,
  ],
  ['an agent elsewhere', (thrown) => a2aFailure(thrown).message],
  ['an activity', (thrown) => toStoredError(thrown).message],
  ['a failed activity', (cause) => toStoredError({ name: 'ActivityFailure', cause }).message],
  ['an MCP server', (thrown) => mcpFailure(thrown).message],
  ['a router', (thrown) => messageOf(getModels('http://x', { fetch: () => Promise.reject(thrown) }))],
  [
    'a backend',
    (thrown) =>
      messageOf(
        askBackend({
          ...{ backend: 'b', url: 'http://x', init: {}, fetch: () => Promise.reject(thrown) },
          ...{ retry: { attempts: 1 }, signal },
        }),
      ),
  ],
  [
    'the API of a client',
    (thrown) => {
      const fetch = () => Promise.reject(thrown);
      const place = toHttpConnection({ url: 'http://127.0.0.1:9', patienceMs: 0, fetch }, signal);
      return messageOf(requestJson(place, { method: 'GET', path: '/v1/threads', again: true }));
    },
  ],
];

describe('an error without a text', () => {
  for (const [port, tell] of PORTS) {
    it.each(SILENT)(`of ${port}, thrown as %s, gets a readable text`, async (_what, make) => {
      const told = await tell(make());
      expect(told).toMatch(/\p{L}{4,}/u);
      expect(told).not.toMatch(/(^|: )(undefined|null)|\[object|: *$|^no failure/);
    });
  }
});
