/**
 * A family whose threads obey their messages: `do look` makes a model call the tool "look". `do spawn` makes a thread
 * create a subagent "scout", which accepts messages, sends its parent nothing on its own, and has the same tools.
 */
import { calls, type RecordedRequest, type ScriptStep, says } from '../../src/testing/index.ts';
import { eventually } from './eventually.ts';
import type { TestRuntime } from './runtime.ts';
import { cast, create, type FamilyOptions, familyRuntime, SESSION_TOOLS } from './subagent-project.ts';
import { toolOf, type Work } from './tool-work.ts';

export interface FamilyWork extends TestRuntime {
  /** The root thread; its only child is `child`. Both are idle. */
  readonly parent: string;
  readonly child: string;
  /** Makes a thread call its tools in order; returns the result of the last one, or its error as text. */
  tell(threadId: string, ...tools: readonly string[]): Promise<unknown>;
  /** Ids of a thread's children, oldest first. */
  childrenOf(threadId: string): Promise<string[]>;
}

export const SCOUT = {
  name: 'scout',
  blocking: false,
  resumable: { receives_messages: 'side_a', parentCommunication: 'explicit' },
} as const;

const CHAT = { includeChat: true, includePastTools: true };

export async function familyWork(
  tools: Readonly<Record<string, Work>>,
  options: Omit<FamilyOptions, 'cast'> = {},
): Promise<FamilyWork> {
  const names = Object.keys(tools);
  const runtime = await familyRuntime({
    ...options,
    cast: cast({
      main: (request) => obey(request) ?? says('done'),
      scout_a: (request) => obey(request) ?? calls('finish', { text: 'done' }),
    }),
    entries: [SCOUT, ...names],
    prompts: { scout_a: { ...CHAT, tools: [SCOUT, ...names, ...Object.keys(SESSION_TOOLS)] } },
    tools: Object.fromEntries(names.map((name) => [name, toolOf(tools[name] as Work)])),
  });
  const childrenOf = async (threadId: string) =>
    (await runtime.store.children.list(threadId)).map((child) => child.threadId);
  const parent = await runtime.start('do spawn');
  const [child] = await childrenOf(parent);
  if (child === undefined) throw new Error((await runtime.transcript(parent)).join('\n'));
  await atRest(runtime, child);
  return {
    ...runtime,
    parent,
    child,
    childrenOf,
    async tell(threadId, ...called) {
      await runtime.say(threadId, `do ${called.join(' ')}`);
      const results = (await runtime.messages(threadId)).filter(
        ({ role, name }) => role === 'tool' && names.includes(name ?? ''),
      );
      const { content, tool_status: status } = results.at(-1) ?? {};
      return status === 'success' ? JSON.parse(content ?? 'null') : content;
    },
  };
}

/** Waits for the first rest of a child, which begins only when its workflow does. */
export async function atRest({ client }: TestRuntime, threadId: string): Promise<void> {
  await eventually('the first rest', async () => (await client.getThread(threadId)).stopReason !== null);
  await client.waitForIdle(threadId);
}

function obey({ messages }: RecordedRequest): ScriptStep | undefined {
  const start = messages.findLastIndex(
    ({ role, content }) => role === 'user' && /^do /.test(String(content)),
  );
  const later = messages.slice(start + 1);
  // Another message has arrived since the order.
  if (start < 0 || later.some(({ role }) => role === 'user')) return undefined;
  const [, ...names] = String(messages[start]?.content).split(' ');
  const name = names[later.filter(({ role }) => role === 'tool').length];
  if (name === 'spawn') return calls('subagent_create', create('sit'));
  return name === undefined ? undefined : calls(name);
}
