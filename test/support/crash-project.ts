/**
 * A project whose tools crash their process in various ways, next to harmless ones, run by the real `everthread
 * worker`. The message `use NAME` makes one call of that tool; `consult` calls the prompt `adviser`, whose provider
 * crashes; `consult counsel` calls a prompt after whose result a hook crashes; `think badly` crashes the agent's own
 * provider. Any other message is answered at once.
 */
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RuntimeClient } from '../../src/client/runtime-client.ts';
import type { ThreadStore } from '../../src/store/store.ts';
import { type CliProject, cliProject, type Running, seen } from '../cli/support.ts';
import { type Conversation, conversation } from './conversation.ts';
import { connectPatiently } from './patient-client.ts';

export interface CrashSite extends Conversation {
  readonly project: CliProject;
  readonly worker: Running;
  readonly client: RuntimeClient;
  readonly store: ThreadStore;
  /** Starts a thread without waiting for its rest. */
  begin(message: string): Promise<string>;
  /** Lines that tools wrote, in order. */
  ledger(): string[];
  /** Lets the harmless tools end. */
  release(): void;
  close(): Promise<void>;
}

/** Crashes as a fault in native code does: nothing within the process can prevent it. */
const FALL = `process.getBuiltinModule('node:child_process').execFileSync('kill', ['-ABRT', String(process.pid)])`;

/**
 * All other code that crashes first waits, in the worker, until "exhaust" has begun: that tool blocks everything else
 * until the worker has crashed with all that it ran. Run alone afterwards, each crashes at once.
 */
const EXHAUSTED = `async (begun) => {
  appendFileSync('ledger', begun + '\\n');
  while (!readFileSync('ledger', 'utf8').includes('exhaust falls')) await delay(20);
}`;

/** `body` may use `note(state, text)`, and `until(predicate, signal)`. */
function tool(kind: string, body: string): string {
  return `
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { defineTool } from 'everthread';
const note = (state, text) => appendFileSync('ledger', state.threadId + ' ' + text + '\\n');
const until = async (check, signal) => { while (!check()) await delay(20, undefined, { signal }); };
export default defineTool({ description: 'A tool.', ${kind} execute: async (state) => {
  const signal = state.execution?.abortSignal;
  ${body}
  return { status: 'success', result: 'all is well' };
} });
`;
}

const FILES: Readonly<Record<string, string>> = {
  'agents/agents/helper.ts': `
import { defineAgent } from 'everthread';
export default defineAgent({ name: 'helper', sideA: { prompt: 'main' } });
`,
  'agents/prompts/main.ts': `
import { definePrompt } from 'everthread';
export default definePrompt({
  name: 'main', toolDescription: 'Talks.', prompt: 'You talk.', model: 'scripted', includeChat: true, includePastTools: true,
  tools: ['innocent', 'abort', 'exhaust', 'spin', 'spin_once', 'plan', 'adviser', 'counsel'], hooks: ['drop'],
});
`,
  'agents/prompts/adviser.ts': `
import { definePrompt } from 'everthread';
export default definePrompt({ name: 'adviser', toolDescription: 'Advises.', prompt: 'You advise badly.', model: 'scripted' });
`,
  'agents/prompts/counsel.ts': `
import { definePrompt } from 'everthread';
export default definePrompt({ name: 'counsel', toolDescription: 'Advises.', prompt: 'You advise well.', model: 'scripted' });
`,
  'agents/hooks/drop.ts': `
import { appendFileSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { defineHook } from 'everthread';
const exhausted = ${EXHAUSTED};
export default defineHook({
  hook: 'before_store_tool_result', id: 'drop',
  execute: async (state, call) => {
    if (!JSON.stringify(call).includes('counsel')) return;
    await exhausted(state.threadId + ' hook falls');
    ${FALL};
  },
});
`,
  'agents/models/scripted.ts': `
import { appendFileSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { defineModel } from 'everthread';
import { calls, says, scriptedModel } from 'everthread/testing';
const exhausted = ${EXHAUSTED};
const model = scriptedModel(async ({ messages }) => {
  const last = messages.at(-1);
  const text = typeof last.content === 'string' ? last.content : JSON.stringify(last.content);
  if (messages[0].content === 'You advise badly.') {
    await exhausted('adviser falls');
    ${FALL};
  }
  if (messages[0].content === 'You advise well.') return says('Do it.');
  if (last.role === 'tool') return says('I have read: ' + text);
  if (text.includes('think badly')) {
    await exhausted('thinker falls');
    ${FALL};
  }
  if (text.startsWith('consult')) return calls(text.endsWith('counsel') ? 'counsel' : 'adviser', {});
  const [, name] = /^use (\\w+)/.exec(text) ?? [];
  return name ? calls(name, {}) : says('You said: ' + text);
});
export default defineModel({ name: 'scripted', provider: model.provider, model: 'scripted-1' });
`,
  'agents/effects/fall.ts': `
import { appendFileSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { defineEffect } from 'everthread';
const exhausted = ${EXHAUSTED};
export default defineEffect('falls', async (state) => {
  await exhausted(state.threadId + ' effect falls');
  ${FALL};
});
`,
  'agents/tasks/fall.ts': `
import { appendFileSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { defineTask } from 'everthread';
const exhausted = ${EXHAUSTED};
const fall = async (task, phase) => {
  await exhausted(task.id + ' ' + phase + ' falls');
  ${FALL};
};
export default defineTask({
  idempotent: true,
  observe: ({ history }) => ({ acted: history.length }),
  decide: async ({ state, task, history }) => {
    if (task.inputs.phase === 'decide') await fall(task, 'decide');
    if (state.acted === 0) return { kind: 'act', action: 'go' };
    return { kind: 'stop', pass: true, reason: 'seen', outcome: history.at(-1).actionOutcome };
  },
  act: (_, { task }) => fall(task, 'act'),
});
`,
  'agents/tools/innocent.ts': tool(
    'idempotent: true,',
    `note(state, 'innocent begins');
  await until(() => existsSync('release'), signal);
  note(state, 'innocent ends');`,
  ),
  'agents/tools/abort.ts': tool(
    'idempotent: true,',
    `note(state, 'abort falls');
  await until(() => readFileSync('ledger', 'utf8').includes('exhaust falls'), signal);
  ${FALL};`,
  ),
  'agents/tools/exhaust.ts': tool(
    'quick: true,',
    // Numbers, which the garbage collector does not scan: with objects it works for seconds before it gives up.
    `note(state, 'exhaust falls'); const kept = []; for (;;) kept.push(new Array(100_000).fill(0.5));`,
  ),
  'agents/tools/spin.ts': tool('idempotent: true,', `note(state, 'spin falls'); for (;;);`),
  'agents/tools/spin_once.ts': tool('', `note(state, 'spin_once falls'); for (;;);`),
  'agents/tools/plan.ts': tool('', `await state.scheduleEffect('fall', {}, 0);`),
};

export async function startCrashSite(env: Readonly<Record<string, string>> = {}): Promise<CrashSite> {
  const project = await cliProject(FILES);
  const taskQueue = `crash-${randomUUID()}`;
  const store = 'sqlite:data/store.db?synchronous=normal';
  writeFileSync(join(project.folder, 'ledger'), '');
  const worker = project.start(['worker', '--json'], {
    EVERTHREAD_TASK_QUEUE: taskQueue,
    EVERTHREAD_TOOL_HEARTBEAT_MS: '8000',
    EVERTHREAD_MODEL_HEARTBEAT_MS: '8000',
    ...env,
  });
  await seen(worker, '"event":"ready"', 120_000);
  const client = await connectPatiently({
    address: process.env.TEMPORAL_ADDRESS as string,
    taskQueue,
    store,
    projectDir: project.folder,
  });
  const ledger = join(project.folder, 'ledger');
  return {
    project,
    worker,
    client,
    store: client.store,
    ...conversation(client),
    async begin(content) {
      return (await client.startThread({ agent: 'helper', messages: [{ content }] })).threadId;
    },
    ledger: () => (existsSync(ledger) ? readFileSync(ledger, 'utf8').split('\n').filter(Boolean) : []),
    release: () => writeFileSync(join(project.folder, 'release'), ''),
    async close() {
      await client.close();
      await project.remove();
    },
  };
}
