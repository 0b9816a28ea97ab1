/** Scenarios in which a call waits for work that it has begun elsewhere. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { defineA2aAgent } from '../../src/definitions/index.ts';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { helperRegistry } from '../support/runtime.ts';
import { type Scenario, say } from './scenario.ts';

/**
 * Starts an A2A agent that is unavailable when its task is first polled, so that the call is polled again later.
 * Returns its URL.
 */
function awayAtFirst(): string {
  let asked = 0;
  let contextId = '';
  const server = createServer(async (request, response) => {
    const { port } = server.address() as AddressInfo;
    if (request.method === 'GET') {
      const url = `http://127.0.0.1:${port}/`;
      const supportedInterfaces = [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }];
      response.end(JSON.stringify({ supportedInterfaces }));
      return;
    }
    let body = '';
    for await (const piece of request) body += piece;
    const { id, method, params } = JSON.parse(body);
    contextId ||= params.message?.contextId;
    const tell = (state: string) => {
      const artifacts = [{ artifactId: 'a', parts: [{ text: 'done elsewhere' }] }];
      const task = { id: 'task', contextId, status: { state: `TASK_STATE_${state}` }, artifacts };
      const result = method === 'SendMessage' ? { task } : task;
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    };
    if (method === 'SendMessage') tell('WORKING');
    else if (asked++ === 0) response.writeHead(503).end();
    else tell('COMPLETED');
  });
  // The port is bound when `listen` returns.
  server.listen(0).unref();
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

export const REMOTE_SCENARIOS: Readonly<Record<string, Scenario>> = {
  'task-elsewhere': {
    model: () => scriptedModel([calls('a2a__peer', { message: 'go' }), says('done')]),
    registry: (model) =>
      helperRegistry({
        model,
        a2aAgents: { peer: defineA2aAgent({ description: 'Does it.', url: awayAtFirst() }) },
        prompt: { tools: ['a2a:peer'] },
      }),
    live: (client, threadId) => say(client, threadId, 'go'),
  },
};
