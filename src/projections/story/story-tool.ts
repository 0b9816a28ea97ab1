/** Calls of tools, what policies decide about them, and loops of them. */
import type { CallRepair } from '../../core/answer/clean-calls.ts';
import type { EventData, EventKind, ThreadEventOf } from '../../core/event/thread-event.ts';
import { describeLoop } from '../../core/guard/loop.ts';
import { type StoryHandlers, type StoryTransition, type Told, tell } from './story-handler.ts';
import { type Story, without } from './story-state.ts';
import { because, close, count, cut, duration, elapsed, list, quote, stepName } from './words.ts';

type ToolKind = Extract<
  EventKind,
  | `tool.${string}`
  | `action.${string}`
  | `loop.${string}`
  | `mcp.${string}`
  | `file.${string}`
  | 'a2a.task'
  | 'value.changed'
>;

const ARGUMENTS_LENGTH = 200;

export const TOOL_STORY: StoryHandlers<ToolKind> = {
  'tool.called': callTool,
  'tool.started': (story, { at, data: { name, callId, queuedMs } }) => [
    { ...story, begun: { ...story.begun, [callId]: at } },
    queuedMs === undefined
      ? []
      : [{ kind: 'wait', line: `${quote(name)} waited ${duration(queuedMs)} for a free worker.` }],
  ],
  'tool.result': finishTool,
  'tool.unknown': (story, { data: { name, callId } }) => [
    endCall(story, callId),
    [
      {
        kind: 'lost',
        line: `The worker that ran ${quote(name)} was lost: whether it has taken effect is unknown, and it is not run again.`,
      },
    ],
  ],
  'tool.late_result': tell(
    'lost',
    ({ name }) => `A result of ${quote(name)} came too late: its call already had one, and keeps it.`,
  ),
  'tool.removed': (story, { data: { name, callId } }) => [
    endCall(story, callId),
    [{ kind: 'tool', line: `A hook removed the call of ${quote(name)} from the thread.` }],
  ],
  'tool.invoked': tell(
    'tool',
    ({ name, status, durationMs }) =>
      `Code called ${quote(name)} itself: ${status}, after ${duration(durationMs)}.`,
  ),
  'a2a.task': tell(
    'tool',
    ({ agent, taskId }) => `The agent ${quote(agent)} elsewhere began its task ${quote(taskId)}.`,
  ),
  'mcp.listed': tell('tool', ({ server, changed, left = [] }) => {
    if (changed.length === 0 && left.length === 0) return undefined;
    const differ = changed.length === 0 ? '' : ` It has changed ${list(changed)}.`;
    const out = left.map(({ tool, why }) => `${cut(tool, 64)} (${cut(why, 100)})`);
    const missing = left.length === 0 ? '' : ` Not offered: ${out.slice(0, 8).join(', ')}.`;
    return `The MCP server ${quote(server)} has listed its tools.${differ}${missing}`;
  }),
  'mcp.failed': tell(
    'error',
    ({ server, code, error }) =>
      `The MCP server ${quote(server)} could not list its tools (${code}), and they are not offered${because(error)}`,
  ),

  'action.requested': null,
  'action.policy': tell('tool', ({ name, effect, reason, policy, confirmedBy, grantId }) => {
    if (effect === 'allow') return undefined;
    if (grantId !== undefined) return `${quote(name)} was approved before (grant ${cut(grantId, 64)}).`;
    const why =
      because(reason) + (policy === undefined ? '' : ` It is the policy ${quote(policy)} that says so.`);
    if (effect === 'deny') return `${quote(name)} is forbidden${why}`;
    return confirmedBy === undefined
      ? `${quote(name)} needs approval${why}`
      : `${quote(name)} needs approval, and the runtime has given it (guards.confirm)${why}`;
  }),
  'action.denied': tell(
    'tool',
    ({ name, code, reason }) => `${quote(name)} is not done (${code})${because(reason)}`,
  ),
  'action.started': null,
  'action.completed': null,
  'action.failed': null,
  'action.uncertain': null,
  'action.reconciled': tell('wait', ({ name, completed, note, by }) => {
    const who = by === undefined ? 'A person' : cut(by, 64);
    return `${who} says that ${quote(name)} ${completed ? 'has taken' : 'has not taken'} effect${because(note)}`;
  }),

  'loop.warning': tell('loop', (data) => {
    const ends = data.limit === undefined ? '' : `; at ${data.limit} calls the turn ends`;
    return `The model has ${describeLoop(named(data))}: its next request has a reminder${ends}.`;
  }),
  'loop.critical': tell('loop', (data) => `The model has ${describeLoop(named(data))}: the turn ends.`),

  'value.changed': null,
  'file.created': tell('tool', toFile('was written')),
  'file.updated': tell('tool', toFile('was replaced')),
  'file.deleted': tell('tool', ({ path }) => `The file ${quote(path)} was removed.`),
};

const named = <T extends { readonly name: string }>(data: T) => ({ ...data, name: cut(data.name, 64) });

function toFile(verb: string) {
  return ({ path, size }: EventData['file.created']) =>
    `The file ${quote(path)} ${verb} (${count(size)} bytes).`;
}

function callTool(story: Story, { step, data }: ThreadEventOf<'tool.called'>): StoryTransition {
  const { name, callId, queued, repaired } = data;
  const given = story.arguments[callId];
  const args =
    given === undefined || given === '{}' || given === '' ? '' : ` with ${cut(given, ARGUMENTS_LENGTH)}`;
  const calls = queued ? 'runs the queued tool' : 'calls';
  const told: Told[] = [{ kind: 'tool', line: `${stepName(step)} ${calls} ${quote(name)}${args || '.'}` }];
  if (repaired)
    told.push({
      kind: 'repair',
      line: `That call of ${quote(name)} was repaired: ${repaired.map((each) => REPAIRS[each] ?? each).join('; ')}.`,
    });
  return [{ ...story, arguments: without(story.arguments, callId) }, told];
}

const REPAIRS: Readonly<Record<CallRepair, string>> = {
  name: 'spaces around its name were removed',
  id: 'its id was missing, or that of another call',
  inline: 'it was written into the text of the answer',
  null: 'it had no arguments',
  unquoted: 'its arguments were text instead of an object',
  unwrapped: 'text around its arguments was removed',
  escaped: 'line breaks in its arguments were escaped',
  commas: 'a comma too many was removed from its arguments',
};

function endCall(story: Story, callId: string): Story {
  return { ...story, begun: without(story.begun, callId), said: null };
}

function finishTool(story: Story, { at, data }: ThreadEventOf<'tool.result'>): StoryTransition {
  const { callId } = data;
  const line = toResult(data, {
    text: story.said?.content ?? '',
    began: story.begun[callId],
    at: data.endedAt ?? at,
  });
  return [endCall(story, callId), [{ kind: 'tool', line }]];
}

interface Outcome {
  readonly text: string;
  readonly began: number | undefined;
  readonly at: number;
}

function toResult(
  { name, status, refused, settled }: EventData['tool.result'],
  { text, began, at }: Outcome,
): string {
  const tool = quote(name);
  if (settled === 'reconciled') return `A person's report settles ${tool}${because(text)}`;
  if (settled !== undefined) return `${tool} has no result: ${CUTS[settled]}.`;
  if (refused) return `${tool} did not run: ${close(text)}`;
  const after = began === undefined ? '' : ` after ${elapsed(began, at)}`;
  const said = text === '' ? '.' : `: ${cut(text)}`;
  return `${tool} ${status === 'error' ? 'failed' : 'returned'}${after}${said}`;
}

const CUTS = {
  stopped: 'the turn was stopped',
  terminated: 'the thread was terminated',
  ended: 'the turn ended before',
  budget: 'the budget of the turn is used up',
} as const;
