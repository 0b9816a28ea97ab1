/**
 * A provider that answers anything: broken streams, wrong types, floods, unknown names, sockets that close. Serves the
 * OpenAI dialect over real HTTP; its answers depend on its seed and the number of the request.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Random } from '../support/seeded-random.ts';
import { deep, json, number, record, text } from './garbage.ts';

export interface HostileProvider {
  readonly url: string;
  readonly answered: () => number;
  close(): Promise<void>;
}

export async function serveHostileProvider(random: Random): Promise<HostileProvider> {
  let answered = 0;
  const server = createServer((request, response) => {
    request.resume();
    // A client that disconnects is not a failure of the attack.
    response.on('error', () => undefined);
    answered += 1;
    answer(response, random.split(answered));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    answered: () => answered,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function answer(response: ServerResponse, random: Random): void {
  const kind = random.below(10);
  if (kind === 0) response.socket?.destroy();
  else if (kind === 1) fail(response, random);
  else if (kind === 2) whole(response, random);
  else stream(response, random);
}

function fail(response: ServerResponse, random: Random): void {
  // Only status codes without a retry delay: the attack needs many answers, not long waits.
  response.writeHead(random.pick([400, 401, 404, 413, 418, 422, 451]), {
    'content-type': 'application/json',
  });
  response.end(random.chance(0.5) ? JSON.stringify({ error: json(random) }) : text(random));
}

function whole(response: ServerResponse, random: Random): void {
  response.writeHead(200, {
    'content-type': random.pick(['application/json', 'text/html', 'text/event-stream']),
  });
  response.end(random.chance(0.5) ? JSON.stringify(json(random)) : deep(random, 20_000));
}

function stream(response: ServerResponse, random: Random): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const events = random.chance(0.05) ? 3_000 : random.below(12);
  for (let index = 0; index < events; index++) response.write(event(random));
  const end = random.below(4);
  if (end === 0) return void response.socket?.destroy();
  if (end === 1) return void response.end();
  response.write(
    `data: ${JSON.stringify(chunk({}, { finish_reason: random.pick(['stop', 'tool_calls', 'length', 'x', 3, null]) }))}\n\n`,
  );
  response.end('data: [DONE]\n\n');
}

function event(random: Random): string {
  const kind = random.below(12);
  if (kind === 0) return `data: ${text(random)}\n\n`;
  if (kind === 1) return `data: ${JSON.stringify(json(random))}\n\n`;
  if (kind === 2) return `: ${text(random)}\n`;
  if (kind === 3) return 'x'.repeat(random.below(300_000));
  if (kind <= 7)
    return `data: ${JSON.stringify(chunk({ content: random.chance(0.8) ? text(random) : json(random) }))}\n\n`;
  if (kind === 8) return `data: ${JSON.stringify(chunk({ reasoning_content: json(random) }))}\n\n`;
  if (kind === 9)
    return `data: ${JSON.stringify({ ...chunk({}), usage: record(random), id: json(random) })}\n\n`;
  return `data: ${JSON.stringify(chunk({ tool_calls: toolCalls(random) }))}\n\n`;
}

function toolCalls(random: Random): unknown[] {
  const count = random.chance(0.05) ? 500 : 1 + random.below(3);
  return Array.from({ length: count }, (_, index) => ({
    index: random.chance(0.9) ? index : number(random),
    id: random.chance(0.8) ? `call_${random.below(1000)}` : json(random),
    type: 'function',
    function: {
      name: random.pick(['host_calls', 'host_calls', 'run_code', 'nothing', text(random)]),
      arguments: callArguments(random),
    },
  }));
}

function callArguments(random: Random): unknown {
  const kind = random.below(6);
  if (kind === 0) return text(random);
  if (kind === 1) return deep(random, 5_000);
  if (kind === 2) return json(random);
  return JSON.stringify({
    seed: random.below(1_000_000),
    source: 'export default () => 1',
    ...(kind === 3 ? record(random) : {}),
  });
}

function chunk(delta: Record<string, unknown>, more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id: 'chatcmpl-fuzz',
    object: 'chat.completion.chunk',
    created: 0,
    model: 'fuzz',
    choices: [{ index: 0, delta: { role: 'assistant', ...delta }, finish_reason: null, ...more }],
  };
}
