/**
 * The page's chat handler: two turns of a session as lines of JSON, each kept before it is complete; the second one is asked for twice, and runs once. Needs a
 * Temporal server (`everthread dev`, TEMPORAL_ADDRESS) and no key of any provider.
 */
import { defineAgent, defineModel, definePrompt, registryFrom } from '../../src/definitions/index.ts';
import {
  type ChatTurnRequest,
  clientBox,
  createChatTurnHandler,
  persistTurns,
} from '../../src/faces/tangle/index.ts';
import { RuntimeClient } from '../../src/index.ts';
import { says, scriptedModel } from '../../src/testing/index.ts';
import { createWorker } from '../../src/worker/index.ts';

const { provider } = scriptedModel([says('Hello, Ada.'), says('You are welcome.')]);
const saved = new Map<string, string>();
const registry = registryFrom({
  agents: [defineAgent({ name: 'helper', sideA: { prompt: 'main' }, hooks: ['persist_turns'] })],
  prompts: [
    definePrompt({
      ...{ name: 'main', toolDescription: 'helps', prompt: 'You help.', model: 'scripted' },
      includeChat: true,
    }),
  ],
  models: [defineModel({ name: 'scripted', provider, model: 'scripted' })],
  hooks: [persistTurns({ persistAssistantMessage: ({ key, finalText }) => void saved.set(key, finalText) })],
});
const place = { projectDir: process.cwd(), taskQueue: 'tangle-chat-handler' };
const worker = await createWorker({ ...place, registry });
const running = worker.run();
const client = await RuntimeClient.connect(place);
const handler = createChatTurnHandler({
  box: clientBox(client, { agent: 'helper' }),
  readTurn: async (request) => (await request.json()) as ChatTurnRequest,
});

const sessionId = crypto.randomUUID();
async function say(turnIndex: number, message: string): Promise<void> {
  const identity = { tenantId: 'acme', userId: 'ada', sessionId, turnIndex };
  const body = JSON.stringify({ identity, message });
  const response = await handler(new Request('http://localhost/chat', { method: 'POST', body }));
  const lines = (await response.text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  console.log(lines.map(({ type }) => (type === 'message.part.updated' ? '.' : type)).join(' '));
}

try {
  await say(0, 'I am Ada.');
  await say(1, 'Thank you.');
  await say(1, 'Thank you.');
  console.log(`kept: ${[...saved.values()].join(' | ')}`);
} finally {
  await client.close();
  worker.shutdown();
  await running;
}
