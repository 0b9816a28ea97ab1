/**
 * Ways in which a provider can misbehave, and how the turn ends: `answered` by the same model after all, or `failed`
 * with a code; how many requests it took; whether readers had to discard streamed text. Time-outs are small only where
 * they must be exceeded.
 */
import type { ModelTimeouts } from '../../src/core/value/limit.ts';
import { DONE, event, type Rudeness } from '../support/rude-provider.ts';

export interface Misdeed {
  readonly what: string;
  readonly timeouts?: ModelTimeouts;
  readonly does: Rudeness;
  /** `answered` or `failed <code>`, then `in <n>` requests, and how often text was `discarded`. */
  readonly ends: string | RegExp;
}

/** Whether text or arguments have been read by then depends on the speed of the machine. */
const LIKELY = /^answered in 2(, 1 discarded)?$/;
const LIKELY_TOO_LARGE = /^failed AnswerTooLarge in 1(, 1 discarded)?$/;

const JSON_TYPE = { 'content-type': 'application/json' };
const SHORT = 0.4;

/** Yields one part without end. */
function* endless<Part>(part: Part): Generator<Part> {
  for (;;) yield part;
}

/** Misbehaves in streams, and answers plain calls correctly. */
const inStreams =
  (rude: Rudeness): Rudeness =>
  (exchange) =>
    exchange.streamed ? rude(exchange) : exchange.answer();

/** Misbehaves in the first request only. */
const first =
  (rude: Rudeness): Rudeness =>
  (exchange) =>
    exchange.request === 1 ? rude(exchange) : exchange.answer();

/** Answers with a status code and a very short pause before a retry. */
const refuses =
  (status: number, headers: Readonly<Record<string, string>> = { 'retry-after-ms': '1' }): Rudeness =>
  ({ head, response }) => {
    head({ ...JSON_TYPE, ...headers }, status);
    response.end('{"error":{"message":"no"}}');
  };

/** Sends these events, and ends the response. */
const streams =
  (...parts: string[]): Rudeness =>
  ({ head, response }) => {
    head();
    response.end(parts.join(''));
  };

const calls = (...list: object[]) =>
  event({ tool_calls: list.map((call, index) => ({ index, type: 'function', ...call })) });
const look = { name: 'look', arguments: '{}' };
const ended = (finish: string) => `${event({}, { finish_reason: finish })}data: [DONE]\n\n`;

export const MISDEEDS: readonly Misdeed[] = [
  // Silence.
  {
    what: 'says nothing, ever',
    timeouts: { firstChunkSeconds: SHORT, plainSeconds: SHORT },
    does: () => undefined,
    ends: 'failed timeout in 2',
  },
  {
    what: 'says nothing to streams',
    timeouts: { firstChunkSeconds: SHORT },
    does: inStreams(() => undefined),
    ends: 'answered in 2',
  },
  {
    what: 'sends headers and nothing behind them',
    timeouts: { firstChunkSeconds: SHORT },
    does: inStreams(({ head }) => head()),
    ends: 'answered in 2',
  },
  {
    what: 'sends headers byte by byte',
    timeouts: { firstChunkSeconds: SHORT, plainSeconds: SHORT },
    does: async ({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\nx-slow: ');
      for (const part of endless('x')) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        if (socket.destroyed) return;
        socket.write(part);
      }
    },
    ends: 'failed timeout in 2',
  },
  {
    what: 'stalls within its text',
    timeouts: { idleSeconds: SHORT },
    does: inStreams(({ head, send }) => {
      head();
      return send([event({ content: 'Well' })]);
    }),
    ends: 'answered in 2, 1 discarded',
  },
  {
    what: 'stalls within a call',
    timeouts: { idleSeconds: SHORT },
    does: inStreams(({ head, send }) => {
      head();
      return send([calls({ id: 'a', function: { name: 'look', arguments: '{"x' } })]);
    }),
    ends: LIKELY,
  },
  {
    what: 'finishes and keeps the connection open',
    timeouts: { idleSeconds: SHORT },
    does: inStreams(({ head, send }) => {
      head();
      return send([event({ content: 'Well' }), event({}, { finish_reason: 'stop' })]);
    }),
    ends: 'answered in 2, 1 discarded',
  },
  // Without an end.
  {
    what: 'streams text without an end',
    timeouts: { totalSeconds: 1 },
    does: inStreams(({ head, send }) => {
      head();
      return send(endless(event({ content: 'x' })), 20);
    }),
    ends: LIKELY,
  },
  {
    what: 'streams comments without an end',
    timeouts: { firstChunkSeconds: SHORT },
    does: inStreams(({ head, send }) => {
      head();
      return send(endless(': wait\n\n'), 20);
    }),
    ends: 'answered in 2',
  },
  {
    what: 'answers as a whole without an end',
    timeouts: { firstChunkSeconds: SHORT, plainSeconds: SHORT },
    does: ({ head, send }) => {
      head(JSON_TYPE);
      return send(endless(' '), 20);
    },
    ends: 'failed timeout in 2',
  },
  {
    what: 'redirects to itself',
    does: ({ head, response }) => {
      head({ location: '/v1/chat/completions' }, 307);
      response.end();
    },
    ends: 'failed server_error in 3',
  },
  // Cut off.
  {
    what: 'resets the connection',
    does: first(({ socket }) => socket.resetAndDestroy()),
    ends: 'answered in 2',
  },
  {
    what: 'resets the connection within its text',
    does: first(async ({ head, send, socket }) => {
      head();
      await send([event({ content: 'Well' })]);
      setTimeout(() => socket.resetAndDestroy(), 100);
    }),
    ends: LIKELY,
  },
  {
    what: 'closes without an end',
    does: inStreams(streams(event({ content: 'Well' }))),
    ends: 'answered in 2, 1 discarded',
  },
  {
    what: 'promises more bytes than it sends',
    does: first(({ head, response, socket }) => {
      head({ 'content-type': 'text/event-stream', 'content-length': '100000' });
      response.write(event({ content: 'Well' }));
      setTimeout(() => socket.end(), 100);
    }),
    ends: 'answered in 2, 1 discarded',
  },
  {
    what: 'closes without any answer in the stream',
    does: inStreams(streams('')),
    ends: 'answered in 2',
  },
  {
    what: 'cuts JSON off',
    does: inStreams(streams(event({ content: 'Well' }), 'data: {"id":"r","choi\n\n')),
    ends: 'answered in 2, 1 discarded',
  },
  // Garbage.
  {
    what: 'streams noise',
    does: inStreams(({ head, response }) => {
      head();
      response.end(Buffer.from(Array.from({ length: 4096 }, (_, n) => (n * 7919) % 256)));
    }),
    ends: 'answered in 2',
  },
  {
    what: 'streams what is no JSON',
    does: inStreams(streams('data: {never mind}\n\n')),
    ends: 'answered in 2',
  },
  {
    what: 'does not speak HTTP',
    does: first(({ socket }) => socket.end('SSH-2.0-OpenSSH_9.7\r\n')),
    ends: 'answered in 2',
  },
  {
    what: 'answers streams with a page for people',
    does: inStreams(({ head, response }) => {
      head({ 'content-type': 'text/html' });
      response.end('<html><body>Please log in.</body></html>');
    }),
    ends: 'answered in 2',
  },
  {
    what: 'answers all with a page for people',
    does: ({ head, response }) => {
      head({ 'content-type': 'text/html' });
      response.end('<html><body>Please log in.</body></html>');
    },
    ends: 'failed server_error in 3',
  },
  {
    what: 'answers a stream as a whole',
    does: (exchange) => {
      const { head, response } = exchange;
      if (!exchange.streamed) return exchange.answer();
      head(JSON_TYPE);
      response.end('{"choices":[{"message":{"content":"Hello"},"finish_reason":"stop"}]}');
    },
    ends: 'answered in 2',
  },
  {
    what: 'answers compressed, and is not',
    does: first(({ head, response }) => {
      head({ 'content-type': 'text/event-stream', 'content-encoding': 'gzip' });
      response.end('this is no gzip');
    }),
    ends: 'answered in 2',
  },
  {
    what: 'puts an error into its stream',
    does: inStreams(streams(event({ content: 'Well' }), 'data: {"error":{"message":"out of memory"}}\n\n')),
    ends: 'answered in 2, 1 discarded',
  },
  {
    what: 'says things of other types',
    does: streams(event({ content: { x: 1 } }), DONE),
    ends: 'failed InvalidAnswer in 1',
  },
  {
    what: 'reports impossible usage',
    does: streams(
      event({ content: 'Hello' }),
      'data: {"id":"r","choices":[],"usage":{"prompt_tokens":-5,"completion_tokens":1e300}}\n\n',
      DONE,
    ),
    ends: 'answered in 1',
  },
  // Calls.
  {
    what: 'gives two calls one id',
    does: first(
      streams(calls({ id: 'a', function: look }, { id: 'a', function: look }), ended('tool_calls')),
    ),
    ends: 'answered in 2',
  },
  {
    what: 'gives calls no ids',
    does: first(streams(calls({ function: look }, { function: look }), ended('tool_calls'))),
    ends: 'answered in 2',
  },
  {
    what: 'calls what nobody has',
    does: first(
      streams(calls({ id: 'a', function: { name: 'None', arguments: '{}' } }), ended('tool_calls')),
    ),
    ends: 'answered in 2',
  },
  {
    what: 'goes on with a call that it has not begun',
    does: first(streams(calls({ function: { arguments: '{"x":1}' } }), ended('tool_calls'))),
    ends: 'answered in 2',
  },
  {
    what: 'cuts the arguments of a call off',
    does: first(
      streams(calls({ id: 'a', function: { name: 'look', arguments: '{"x": "abc' } }), ended('length')),
    ),
    ends: 'answered in 2',
  },
  {
    what: 'nests arguments without measure',
    does: streams(
      calls({ id: 'a', function: { name: 'look', arguments: '{"x":'.repeat(100_000) } }),
      ended('tool_calls'),
    ),
    ends: LIKELY_TOO_LARGE,
  },
  {
    what: 'calls 10,000 tools at once',
    does: streams(
      calls(...Array.from({ length: 10_000 }, (_, n) => ({ id: `a${n}`, function: look }))),
      ended('tool_calls'),
    ),
    ends: LIKELY_TOO_LARGE,
  },
  // Too much.
  {
    what: 'streams 100 MB of text',
    does: ({ head, send }) => {
      head();
      return send(Array.from({ length: 1600 }, () => event({ content: 'x'.repeat(64 * 1024) })));
    },
    ends: 'failed AnswerTooLarge in 1, 1 discarded',
  },
  {
    what: 'sends 100 MB in one event',
    does: ({ head, send }) => {
      head();
      return send(['data: ', ...Array.from({ length: 1600 }, () => 'x'.repeat(64 * 1024))]);
    },
    ends: 'failed AnswerTooLarge in 1',
  },
  {
    what: 'sends headers of a megabyte',
    does: first(({ socket }) =>
      socket.write(`HTTP/1.1 200 OK\r\nx-long: ${'x'.repeat(1024 * 1024)}\r\n\r\n`),
    ),
    ends: 'answered in 2',
  },
  // Refusals.
  {
    what: 'refuses with 429 each time',
    timeouts: { totalSeconds: 2, plainSeconds: 1 },
    does: refuses(429),
    ends: /^failed (rate_limit|timeout) in \d+$/,
  },
  { what: 'refuses with 503 each time', does: refuses(503), ends: 'failed server_error in 3' },
  {
    what: 'wants to be asked again tomorrow',
    timeouts: { totalSeconds: 20, plainSeconds: 20 },
    does: refuses(429, { 'retry-after': '86400' }),
    ends: 'failed rate_limit in 1',
  },
  { what: 'refuses the key', does: refuses(401), ends: 'failed auth_error in 1' },
];
