/**
 * Large families, for tests and benchmarks: a lead with many concurrent children ("mite"), a chain of subagents that
 * wait for one another ("level1" to "level4"), researchers for which the lead waits, side by side ("reader") or one after
 * another ("seeker"), and siblings that write to each other through their parent ("peer"). The
 * script depends on the request alone.
 */
import { z } from 'zod';
import type { ModelDefinition } from '../../src/core/author/definition.ts';
import type { Registry } from '../../src/core/author/registry.ts';
import {
  type AgentInput,
  defineAgent,
  defineModel,
  definePrompt,
  defineTool,
  registryFrom,
} from '../../src/definitions/index.ts';
import {
  calls,
  callsMany,
  delays,
  type RecordedRequest,
  type ScriptedModel,
  type ScriptStep,
  says,
} from '../../src/testing/index.ts';

export const LEVELS = 4;

const LEVEL_NAMES = Array.from({ length: LEVELS }, (_, index) => `level${index + 1}`);
const CHILD: Partial<AgentInput> = { type: 'dual_ai', exposeAsTool: true, toolDescription: 'does it' };

/** `mites`: the model of the children, if it is another one. */
export function fanOutRegistry({ provider }: ScriptedModel, mites?: ModelDefinition): Registry {
  return registryFrom({
    agents: [
      defineAgent({ name: 'lead', sideA: { prompt: 'lead_desk' } }),
      ...['mite', 'peer', 'reader', 'seeker', ...LEVEL_NAMES].map(child),
    ],
    prompts: [
      prompt('lead', [
        { name: 'mite', blocking: false, resumable: { receives_messages: 'side_a' } },
        {
          name: 'peer',
          blocking: false,
          resumable: { receives_messages: 'side_a', parentCommunication: 'explicit' },
        },
        { name: 'level1', initUserMessageProperty: 'task' },
        { name: 'reader', parallel: true, initUserMessageProperty: 'task' },
        { name: 'seeker', initUserMessageProperty: 'task' },
      ]),
      prompt('mite', ['finish'], undefined, mites?.name),
      prompt('peer', ['finish', 'relay']),
      ...['reader', 'seeker'].map((name) => prompt(name, ['finish'], z.object({ task: z.string() }))),
      ...LEVEL_NAMES.map((name, index) =>
        prompt(
          name,
          [
            'finish',
            ...(index + 1 < LEVELS ? [{ name: `level${index + 2}`, initUserMessageProperty: 'task' }] : []),
          ],
          z.object({ task: z.string() }),
        ),
      ),
      prompt('checker', []),
    ],
    models: [defineModel({ name: 'scripted', provider, model: 'scripted-1' }), ...(mites ? [mites] : [])],
    tools: { finish, relay },
  });
}

function child(name: string) {
  const sessionStop = { name: 'finish', messageProperty: 'line' };
  return defineAgent({
    name,
    ...CHILD,
    sideA: { prompt: `${name}_desk`, sessionStop },
    sideB: { prompt: 'checker_desk' },
  });
}

type Tools = NonNullable<Parameters<typeof definePrompt>[0]['tools']>;

function prompt(name: string, tools: Tools, requiredSchema?: z.ZodObject, model = 'scripted') {
  return definePrompt({
    name: `${name}_desk`,
    toolDescription: name,
    prompt: name,
    model,
    includeChat: true,
    includePastTools: true,
    tools,
    requiredSchema,
  });
}

const finish = defineTool({
  description: 'hands in',
  args: z.object({ line: z.string() }),
  quick: true,
  execute: () => ({ status: 'success' }),
});

/** Writes `count` numbered messages to a sibling, through the parent. */
const relay = defineTool({
  description: 'writes to a sibling',
  args: z.object({ to: z.string(), count: z.number() }),
  async execute(state, { to, count }) {
    const parent = await state.getParentThread();
    const sibling = await parent?.getChildThread(to);
    if (!sibling) return { status: 'error', error: `${to} is no sibling` };
    for (let n = 1; n <= count; n++) {
      await sibling.queueMessage({ role: 'user', content: `${state.threadId} ${n}`, silent: true });
    }
    return { status: 'success', result: `${count} written` };
  },
});

/**
 * Script of all prompts. The lead obeys `fan N`, `deep`, `reader N` and `seeker N`, and `peers N`; a peer obeys `relay ID N`. A
 * researcher's answer takes half a second.
 */
export function fanOutScript({ messages }: RecordedRequest): ScriptStep {
  const [{ content: who } = { content: '' }] = messages;
  const start = findOrder(messages);
  const text = String(messages[start]?.content ?? '');
  const results = messages.slice(start).filter(({ role }) => role === 'tool');
  const last = String((results.at(-1)?.content as string | { text?: string } | undefined) ?? '');
  if (who === 'lead') return lead(text, results.length, last);
  if (who === 'mite') return calls('finish', { line: `done ${text}` });
  if (who === 'reader' || who === 'seeker') return delays(500, calls('finish', { line: `done ${text}` }));
  if (who === 'peer') return peer(text, results.length);
  const level = LEVEL_NAMES.indexOf(String(who)) + 1;
  if (level === LEVELS || results.length > 0) return calls('finish', { line: `${level} ${last}`.trim() });
  return calls(`level${level + 1}`, { task: text });
}

/**
 * Returns the index of the last order. A sibling's message may arrive together with the order `relay`, and is no order.
 */
function findOrder(messages: RecordedRequest['messages']): number {
  const relay = messages.findLastIndex(({ content }) => String(content ?? '').startsWith('relay '));
  return relay < 0 ? messages.findLastIndex(({ role }) => role === 'user') : relay;
}

function lead(text: string, results: number, last: string): ScriptStep {
  const [verb, number = ''] = text.split(' ');
  if (results > 0) return says(last);
  if (verb === 'fan') return create('mite', Number(number));
  if (verb === 'reader' || verb === 'seeker')
    return callsMany(
      Array.from({ length: Number(number) }, (_, n) => ({ name: verb, args: { task: `${n + 1}` } })),
    );
  if (verb === 'peers') return create('peer', Number(number));
  return verb === 'deep' ? calls('level1', { task: 'go' }) : says('Heard.');
}

function create(agent: string, count: number): ScriptStep {
  return callsMany(
    Array.from({ length: count }, (_, index) => ({
      name: 'subagent_create',
      args: { agent, name: `${agent} ${index + 1}`, message: `${index + 1}`, attachments: [] },
    })),
  );
}

function peer(text: string, results: number): ScriptStep {
  const [verb, to, count] = text.split(' ');
  if (verb === 'relay' && results === 0) return calls('relay', { to, count: Number(count) });
  return calls('finish', { line: 'ok' });
}
