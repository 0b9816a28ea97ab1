/** The examples of docs/tangle.md, with what a reader fills in. */
import type { Example } from '../support/examples-twice.ts';
import { GIVEN } from '../support/tangle-examples.ts';

const OURS = 'docs/tangle.md';

export const COUNT_TO_ONE: Example = {
  ...{ page: OURS, at: "id: 'count-1'", stop: 'it acts' },
  edits: [["act: () => 'added'", "act: async () => (did('added'), await stop('it acts'), 'added')"]],
};

export const MEASURED: Example = {
  ...{ page: OURS, at: "id: 'greeter'", stop: 'Grace' },
  edits: [
    [
      'act: (_, { task }) => `',
      "act: async (_, { task }) => did('greeted ' + task.inputs.name) ?? (await stop(task.inputs.name)) ?? `",
    ],
  ],
};

export const WHICH_MODEL: Example = {
  ...{ page: OURS, at: 'resolveChatModel(\n' },
  edits: [
    [
      "allowlist: ['house/own'],",
      "allowlist: ['house/own'], fetch: async () => Response.json({ data: [{ id: model }] }),",
    ],
  ],
};

export const HANDLER: Example = {
  ...{ page: OURS, at: 'createChatTurnHandler({', stop: 'model 1' },
  edits: [
    [
      'import { createChatTurnHandler, remoteBox }',
      `${GIVEN}
const { close, fetch } = await serve('handled', [says('Hello, Ada.')]);
const identify = async () => ({ tenantId: 'acme', userId: 'ada', sessionId: 'handled-1', turnIndex: 0 });
import { createChatTurnHandler, remoteBox }`,
    ],
    [
      "url: 'https://agents.example.com', token: 'TOKEN', agent: 'assistant'",
      "url: 'http://localhost', fetch, agent: 'handled'",
    ],
    [
      'export default { fetch: handler };',
      `const response = await handler(new Request('http://localhost/chat', { method: 'POST', body: 'hello' }));
console.log(response.headers.get('x-execution-id'), ...(await linesOf(response.body)).map(({ type, data }) => data.finalText ?? type).filter((text) => !text.startsWith('message.')));
await close();`,
    ],
  ],
};

export const KEPT: Example = {
  ...{ page: OURS, at: 'export default persistTurns({', stop: 'it is kept' },
  edits: [
    ["import { persistTurns } from 'everthread/tangle';", `${GIVEN}const { persistTurns } = tangle;`],
    ['export default persistTurns({', 'const hook = persistTurns({'],
    [
      "console.log('insert … on conflict (key) do nothing', key, identity.sessionId, finalText);\n  },\n});",
      `did('kept ' + key + ' ' + finalText);
    await stop('it is kept');
  },
});
const { client, close } = await serve('keeping', [says('Call 12345.')], [hook]);
const identity = { tenantId: 'acme', userId: 'ada', sessionId: 'keeping-1', turnIndex: 0 };
const turn = { box: tangle.clientBox(client, { agent: 'keeping' }), identity, message: 'hello' };
console.log(...(await linesOf(tangle.handleChatTurn(turn).body)).slice(-2).map(({ type, data }) => data.finalText ?? type));
await close();`,
    ],
  ],
};

export const PRODUCED: Example = {
  ...{ page: OURS, at: 'produce({ message, signal })', stop: 'it streams' },
  edits: [
    [
      "import { handleChatTurn, localBox } from 'everthread/tangle';",
      `${GIVEN}
const { handleChatTurn, localBox } = tangle;
async function* askFarAway(message) {
  did('asked');
  yield { type: 'message.part.updated', data: { delta: message } };
  await stop('it streams');
  yield { type: 'message.part.updated', data: { delta: ' 12345' } };
}
const database = { insertOnce: async (key, text) => did(['kept', key, text].join(' ')) };
`,
    ],
    [
      'persistAssistantMessage: ({ executionId, finalText }) => database.insertOnce(executionId, finalText),\n  },\n});',
      `persistAssistantMessage: ({ executionId, finalText }) => database.insertOnce(executionId, finalText),
  },
});
console.log((await linesOf(body)).map(({ type, data }) => data?.delta ?? data?.code ?? type).join(' '));
await box.close();`,
    ],
  ],
};

export const BACKENDS: Example = {
  ...{ page: OURS, at: 'createOpenAICompatibleBackend({' },
  edits: [
    ["import { defineModel } from 'everthread';\n", GIVEN],
    [
      "policy: { fallbackModels: ['openai/gpt-4.1-mini'] },",
      `policy: { fallbackModels: ['openai/gpt-4.1-mini'] },
  fetchImpl: async () => new Response('data: ' + JSON.stringify({ choices: [{ delta: { content: 'Hello.' } }] }) + '\\n\\n'),`,
    ],
  ],
};

export const ROWS: Example = {
  ...{ page: OURS, at: 'const telemetry = createTelemetry();', stop: 'model 1' },
  edits: [
    [
      "import { createTelemetry, remoteBox, startRuntimeRun } from 'everthread/tangle';",
      `${GIVEN}
const { createTelemetry, remoteBox, startRuntimeRun } = tangle;
const { close, fetch } = await serve('counted', [says('Hello.')]);`,
    ],
    ['console.log(row.id, row.status, row.cost)', 'console.log(row.id, row.status, row.cost.llmCalls)'],
    ["url: 'http://127.0.0.1:7777', agent: 'assistant'", "url: 'http://localhost', fetch, agent: 'counted'"],
    [
      'console.log(telemetry.observe(event));',
      "if (event.type === 'llm_call') console.log(telemetry.observe(event).type);",
    ],
    ['await run.persist();', 'await run.persist();\nawait close();'],
  ],
};
