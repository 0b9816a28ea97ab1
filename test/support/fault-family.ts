/**
 * The family of the fault tests' project: the agent "helper" may delegate work to a subagent and wait for it ("aide"),
 * or continue without waiting ("scout"). Both write a line, report their progress, keep a note, and hand it in. Their
 * behaviour depends on the request alone.
 */
import { z } from 'zod';
import { type AgentInput, defineAgent, definePrompt, defineTool } from '../../src/definitions/index.ts';
import { calls, callsMany, type RecordedRequest, type ScriptStep, says } from '../../src/testing/index.ts';

/** The system text of subagents. */
export const AIDE = 'You are an aide.';

/** True if the request comes from a subagent. */
export function isAide({ messages: [first] }: RecordedRequest): boolean {
  return first?.content === AIDE;
}

/** Entries of the helper's prompt. */
export const FAMILY_ENTRIES = [
  'jot',
  'whisper',
  { name: 'aide', initUserMessageProperty: 'line', initAttachmentsProperty: 'files' },
  {
    name: 'scout',
    blocking: false,
    resumable: { receives_messages: 'side_a' as const, maxInstances: 100 },
  },
  {
    name: 'envoy',
    blocking: false,
    initUserMessageProperty: 'line',
  },
];

const line = z.object({ line: z.string() });

export function familyTools() {
  return {
    /** Stores a note as a file. */
    jot: defineTool({
      description: 'keeps a note',
      args: line,
      idempotent: true,
      execute: async (state, { line: note }) => {
        await state.writeFile(`/attachments/${note}.txt`, `the note ${note}`, 'text/plain');
        return { status: 'success', result: `kept ${note}` };
      },
    }),
    /** Sends a message to the first child; the child's report on it arrives later. */
    whisper: defineTool({
      description: 'whispers to the first subagent',
      args: line,
      execute: async (state, { line: content }) => {
        const child = await state.getChildThread(state.children[0]?.reference ?? '');
        await child?.queueMessage({ role: 'user', content });
        return { status: 'success', result: `whispered ${content}` };
      },
    }),
    progress: defineTool({
      description: 'tells how far it is',
      args: line,
      idempotent: true,
      execute: () => ({ status: 'success' }),
    }),
    finish: defineTool({
      description: 'hands in',
      args: z.object({ line: z.string(), files: z.array(z.string()) }),
      idempotent: true,
      execute: () => ({ status: 'success' }),
    }),
  };
}

export function familyAgents() {
  const fields: Partial<AgentInput> = { type: 'dual_ai', exposeAsTool: true, toolDescription: 'does it' };
  const sideB = { prompt: 'aide_check' };
  const bindings = {
    sessionStop: { name: 'finish', messageProperty: 'line', attachmentsProperty: 'files' },
    sessionStatus: { name: 'progress', messageProperty: 'line' },
  };
  return [
    defineAgent({ name: 'aide', ...fields, sideA: { prompt: 'aide_work', ...bindings }, sideB }),
    defineAgent({ name: 'scout', ...fields, sideA: { prompt: 'scout_work', ...bindings }, sideB }),
    defineAgent({
      name: 'envoy',
      ...fields,
      sideA: { prompt: 'aide_work', ...bindings },
      sideB,
      variables: [
        { name: 'PASSPORT', type: 'secret', required: true, scoped: true, description: 'of the envoy' },
      ],
    }),
  ];
}

export function familyPrompts() {
  const prompt = (name: string, fields: Partial<Parameters<typeof definePrompt>[0]>) =>
    definePrompt({
      name,
      toolDescription: name,
      prompt: AIDE,
      model: 'scripted',
      includeChat: true,
      includePastTools: true,
      tools: ['write', 'jot', 'progress', 'finish', 'hold', 'refund'],
      ...fields,
    });
  const requiredSchema = z.object({ line: z.string(), files: z.array(z.string()).default([]) });
  return [
    prompt('aide_work', { requiredSchema }),
    prompt('scout_work', {}),
    prompt('aide_check', { prompt: 'You check.', tools: [] }),
  ];
}

interface Turn {
  readonly text: string;
  /** Number of tool results since that message. */
  readonly results: number;
}

/** Answers orders of the helper that concern its family; undefined for all others. */
export function leadFamily({ text, results }: Turn): ScriptStep | undefined {
  const [, verb, rest = ''] = /^(delegate|send|ask|whisper|empower) (.*)$/.exec(text) ?? [];
  switch (verb) {
    case 'delegate':
      if (results === 0) return calls('jot', { line: 'in' });
      return results === 1 ? calls('aide', { line: rest, files: ['/attachments/in.txt'] }) : undefined;
    case 'send':
      return results === 0
        ? callsMany(rest.split(',').map((message) => ({ name: 'subagent_create', args: scout(message) })))
        : undefined;
    case 'ask': {
      const [referenceId, message] = rest.split(' ');
      return results === 0 ? calls('subagent_message', { referenceId, message, attachments: [] }) : undefined;
    }
    case 'whisper':
      return results === 0 ? calls('whisper', { line: rest }) : undefined;
    case 'empower':
      return results === 0 ? calls('envoy', { line: rest }) : undefined;
    default:
      return /^Subagent \(reference:/.test(text) ? says('Heard.') : undefined;
  }
}

function scout(message: string) {
  return { agent: 'scout', name: `Scout ${message}`, message, attachments: [] };
}

/**
 * Answers as a subagent: a message that begins with `wait` makes it wait until it is released, one that begins with
 * `runner` makes it peek first.
 */
export function beAide({ text: told, results }: Turn): ScriptStep {
  // Attached files are listed on the lines after the first.
  const [text = ''] = told.split('\n');
  const waits = text.startsWith('wait')
    ? [calls('hold', { line: text })]
    : text.startsWith('runner')
      ? [calls('peek', { line: text })]
      : [];
  const steps = [
    ...waits,
    calls('write', { line: text }),
    calls('progress', { line: `half of ${text}` }),
    calls('jot', { line: 'out' }),
    calls('finish', { line: `done ${text}`, files: ['/attachments/out.txt'] }),
  ];
  return steps[results] ?? says('There is nothing left to do.');
}
