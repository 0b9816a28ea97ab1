/** Answers in the shapes of other servers, streamed and whole, are read as what they say, in one attempt. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type AttemptOutcome, callModel } from '../../src/models/call-model.ts';
import { openaiCompatible } from '../../src/models/index.ts';
import { FAILING_SHAPES, type Said, SERVER_SHAPES, type ServerShape, USAGE } from './server-shapes.ts';
import { ask, defineTestModel } from './support.ts';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function serve(type: string, body: string): Promise<string> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(200, { 'content-type': type }).end(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

/** One attempt: its answer, or its failure. */
async function read(baseUrl: string, supportsStreaming: boolean): Promise<AttemptOutcome> {
  const model = defineTestModel('m', openaiCompatible({ baseUrl }), { capabilities: { supportsStreaming } });
  const enough = new AbortController();
  let first: AttemptOutcome | undefined;
  const result = callModel({
    models: [model],
    request: () => ask('x'),
    signal: enough.signal,
    onAttemptEnd: ({ outcome }) => {
      first = outcome;
      enough.abort();
    },
  });
  await result.catch(() => undefined);
  if (!first) throw new Error('No attempt was made.');
  return first;
}

function toBytes(stream: NonNullable<ServerShape['stream']>): string {
  if (typeof stream === 'string') return stream;
  return `${stream.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')}data: [DONE]\n\n`;
}

const toBody = (whole: object) =>
  JSON.stringify(
    'message' in whole && 'finish_reason' in whole ? { id: 'c1', choices: [whole], usage: USAGE } : whole,
  );

function check(outcome: AttemptOutcome, said: Said) {
  if (!outcome.ok) throw outcome.error;
  const { content, reasoning, toolCalls = [], finishReason, usage } = outcome.response;
  const read = {
    content,
    reasoning,
    calls: toolCalls.map((call) => [call.name, call.arguments]),
    ids: toolCalls.map(({ id }) => id),
    finishReason,
    promptTokens: usage.promptTokens,
  };
  expect(read).toMatchObject(said);
  expect(toolCalls.some((call) => call.rawArguments !== undefined || call.id.length > 256)).toBe(false);
}

const streamed = SERVER_SHAPES.filter(({ stream }) => stream !== undefined);
const wholes = SERVER_SHAPES.filter(({ whole }) => whole !== undefined);

describe('a streamed answer of', () => {
  it.each(streamed)('$who is read', async ({ stream = [], said }) => {
    check(await read(await serve('text/event-stream', toBytes(stream)), true), said);
  });
});

describe('a whole answer of', () => {
  it.each(wholes)('$who is read', async ({ whole = {}, said }) => {
    check(await read(await serve('application/json', toBody(whole)), false), said);
  });
});

const broken = FAILING_SHAPES.filter(({ stream }) => stream !== undefined);
const refused = FAILING_SHAPES.filter(({ whole }) => whole !== undefined);

describe('an answer is missing', () => {
  it.each(broken)('in the stream of $who', async ({ stream = [], says, status }) => {
    const outcome = await read(await serve('text/event-stream', toBytes(stream)), true);
    expect(outcome.ok || outcome.error).toMatchObject({
      message: expect.stringMatching(says),
      ...(status && { statusCode: status }),
    });
  });

  it.each(refused)('in the complete response of $who', async ({ whole = {}, says, status }) => {
    const outcome = await read(await serve('application/json', toBody(whole)), false);
    expect(outcome.ok || outcome.error).toMatchObject({
      message: expect.stringMatching(says),
      ...(status && { statusCode: status }),
    });
  });
});
