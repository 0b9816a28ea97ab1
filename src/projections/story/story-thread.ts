/** The thread itself: its turns, its messages, its subagents and effects, and what code says. */
import type { ReportOfChild } from '../../core/event/event-data.ts';
import type { EventData, EventKind, ThreadEventOf } from '../../core/event/thread-event.ts';
import type { Message } from '../../core/message/message.ts';
import { argumentsOf, toRowMessage } from '../row-message.ts';
import { type StoryHandlers, type StoryTransition, tell } from './story-handler.ts';
import { MESSAGE_LENGTH } from './story-row.ts';
import { BEGUN_STORY, type Story } from './story-state.ts';
import { because, close, counted, cut, list, moment, quote } from './words.ts';

type ThreadKind = Extract<
  EventKind,
  | `thread.${string}`
  | 'execution.started'
  | 'execution.ended'
  | `produced.${string}`
  | `item.${string}`
  | `message.${string}`
  | 'messages.superseded'
  | 'attachment.missing'
  | `hook.${string}`
  | `code.${string}`
  | `effect.${string}`
  | `subagent.${string}`
  | 'custom'
>;

export const THREAD_STORY: StoryHandlers<ThreadKind> = {
  'thread.created': tell('status', ({ agent, parentId, name }) =>
    parentId === undefined
      ? `A thread of the agent ${quote(agent)} is created.`
      : `A subagent${name ? ` ${quote(name)}` : ''} with the agent ${quote(agent)} is created, for the thread ${cut(parentId, 64)}.`,
  ),
  'thread.forked': tell(
    'status',
    ({ from, at, messages, effects, moreEffects = 0 }) =>
      `A fork of the thread ${cut(from, 64)} is made after its step ${at}, with ${counted(messages, 'message')}${effects.length > 0 ? `; ${counted(effects.length + moreEffects, 'call')} of tools that are not idempotent had ended there` : ''}.`,
  ),
  // A wait that opens or ends says why a thread waits or runs, and the end of a turn why it rests.
  'thread.status': (story, { data: { status, reason, error } }) => {
    const silent = story.ended || status === 'running' || status === 'waiting' || status === 'terminated';
    const why = error ? ` (${error.code})${because(error.message)}` : because(reason);
    return [
      story,
      silent
        ? []
        : [{ kind: status === 'failed' ? 'error' : 'status', line: `The thread is ${status}${why}` }],
    ];
  },
  'thread.agent': tell('status', ({ from, to }) => `The agent ${quote(to)} takes over from ${quote(from)}.`),
  'thread.terminated': tell(
    'status',
    ({ reason }) => `The thread is terminated and accepts nothing more${because(reason)}`,
  ),
  'execution.started': (_, { data: { produced } }) => [
    BEGUN_STORY,
    [
      {
        kind: 'status',
        line: produced ? 'A turn begins; code of another process answers.' : 'A turn begins.',
      },
    ],
  ],
  'execution.ended': (story, { data }) => [
    { ...story, ended: true },
    [{ kind: data.status === 'failed' ? 'error' : 'status', line: toEnd(data) }],
  ],
  'produced.line': tell(
    'status',
    ({ type, data }) => `The process that answers reports ${quote(type)}${json(data)}`,
  ),
  'produced.ended': tell('error', ({ error }) =>
    error ? `The process that answers has failed (${error.code})${because(error.message)}` : undefined,
  ),

  'item.queued': tell('message', ({ kind }) =>
    kind === 'tool' ? 'A tool call is in line for the next step.' : 'A message is in line for the next step.',
  ),
  'item.rejected': tell(
    'error',
    ({ code, reason }) => `Something that was sent was refused (${code})${because(reason)}`,
  ),
  'message.created': showMessage,
  'message.updated': tell('message', ({ role }) => `A message (${role}) was changed.`),
  'messages.superseded': tell('message', ({ reason, messages }) =>
    reason === 'edit'
      ? `A message was edited; ${counted(messages, 'message')} from there on superseded.`
      : `A message is answered again; ${counted(messages, 'message')} behind it superseded.`,
  ),
  'message.deleted': tell(
    'message',
    ({ role }) => `A message${role ? ` (${role})` : ' in line'} was removed.`,
  ),
  'attachment.missing': tell(
    'error',
    ({ paths }) => `Files that a message names are missing: ${list(paths)}.`,
  ),

  'hook.failed': tell('error', ({ id, hook, error }) => {
    const which = [...(hook === null ? [] : [hook]), ...(id === null ? [] : [quote(id)])].join(' ');
    return `The hook ${which} failed, and changed nothing${because(error)}`;
  }),
  'code.stray': tell(
    'error',
    ({ name, error }) => `Code of ${quote(name)} failed where nothing waits for it${because(error)}`,
  ),
  'code.note': tell('status', ({ name, note }) => `${name === null ? '' : `${quote(name)}: `}${close(note)}`),
  custom: tell('status', ({ event, data }) => `Code emits ${quote(event)}${json(data)}`),

  'effect.scheduled': tell(
    'status',
    ({ name, dueAt }) => `The effect ${quote(name)} is to run at ${moment(dueAt)}.`,
  ),
  'effect.started': tell('retry', ({ name, attempt }) =>
    attempt > 1 ? `The effect ${quote(name)} is tried again (attempt ${attempt}).` : undefined,
  ),
  'effect.done': tell('status', ({ name }) => `The effect ${quote(name)} has run.`),
  'effect.failed': tell(
    'error',
    ({ name, error: { code, message } }) =>
      `The effect ${quote(name)} failed (${code}) and is not tried again${because(message)}`,
  ),
  'effect.cancelled': tell('status', ({ name }) => `The effect ${quote(name)} was cancelled before it ran.`),

  'subagent.created': tell(
    'subagent',
    ({ childId, agent, name }) =>
      `The subagent ${quote(name ?? agent)} begins (agent ${quote(agent)}, thread ${cut(childId, 64)}).`,
  ),
  'subagent.messaged': tell(
    'subagent',
    ({ agent, name }) => `A message goes to the subagent ${quote(name ?? agent)}.`,
  ),
  'subagent.notified': tell(
    'subagent',
    ({ childId, name }) => `The subagent ${quote(name ?? childId)} sends a message.`,
  ),
  'subagent.status': tell(
    'subagent',
    ({ childId, name, status }) => `The subagent ${quote(name ?? childId)} reports: ${close(status)}`,
  ),
  'subagent.returned': tell('subagent', toReport),
  'subagent.failed': tell('subagent', toReport),
};

/** A message of a sub-prompt is not told: its call and its result are. */
function showMessage(
  story: Story,
  { step, data: { messageId, role, depth } }: ThreadEventOf<'message.created'>,
  message: Message | null | undefined,
): StoryTransition {
  const next = {
    ...story,
    said: toRowMessage(messageId, message),
    arguments: { ...story.arguments, ...argumentsOf(message) },
  };
  const files = message?.attachments ?? [];
  const content = message?.content ?? '';
  if (depth || role === 'tool') return [next, []];
  // Readers do not load what a system message says.
  if (role === 'system') return [next, [{ kind: 'message', line: 'A system message is added.' }]];
  if (content === '' && files.length === 0) return [next, []];
  const marks = [
    ...(message?.silent ? ['silent'] : []),
    ...(message?.metadata.stopped === true ? ['stopped'] : []),
    ...(files.length > 0 ? [counted(files.length, 'file')] : []),
  ];
  const noted = marks.length > 0 ? ` (${marks.join(', ')})` : '';
  const line = `${speakerOf(message, role, step)}${noted}: ${cut(content, MESSAGE_LENGTH)}`;
  const data = { messageId, role, characters: content.length };
  return [next, [{ kind: 'message', line, data }]];
}

/** Side B's answers are stored with the role of a user. */
function speakerOf(message: Message | null | undefined, role: string, step: number | undefined): string {
  if (message?.metadata.subagent_id !== undefined) return 'subagent';
  return role === 'user' && step !== undefined ? 'side B' : role;
}

function toEnd({ reason, status, error, cancelReason, by }: EventData['execution.ended']): string {
  if (error) return `The turn has ended (${error.code})${because(error.message)}`;
  if (reason === 'canceled')
    return `The turn was cancelled${by === undefined ? '' : ` by ${cut(by, 64)}`}${because(cancelReason)}`;
  if (status === undefined) return `The turn is over${because(REASONS[reason] ?? reason)}`;
  const verb = status === 'failed' ? 'has failed' : `was ${status}`;
  return `The turn ${verb}${reason === status ? '.' : because(REASONS[reason] ?? reason)}`;
}

const REASONS: Readonly<Record<string, string>> = {
  stop_on_response: 'the model has answered',
  stop_tool: 'the tool that ends a turn was called',
  session_stop: 'the tool that ends the session was called',
  session_fail: 'the tool that fails the session was called',
  state_stop_session: 'code has ended it',
  hook_blocked: 'a hook refused the request to the model',
  unanswered: 'whoever queued the tool wants no answer',
  produced: 'the process that answers is done',
  forced_human_turn: 'code has left the next word to a person',
  forced_turn: 'code has given the turn to the other side',
  empty_response: 'the model returned neither text nor a call',
  no_stop_rule: 'the model called no tool, and no rule makes it go on',
  max_session_turns: 'the session has had as many turns as its agent allows',
  max_side_steps: 'the agent has made as many steps as it is allowed',
  max_total_steps: 'the turn has as many steps as are allowed',
};

function json(data: unknown): string {
  return data === undefined ? '.' : `: ${cut(JSON.stringify(data) ?? '', 200)}`;
}

function toReport({ agent, name, kind, by, reason }: ReportOfChild): string {
  return `The subagent ${quote(name ?? agent)} ${REPORTS[kind]}${because(reason)}${RECEIVERS[by]}`;
}

const REPORTS = {
  result: 'has finished',
  failure: 'has failed',
  stopped: 'was stopped before it finished',
  canceled: 'was cancelled before it finished',
  terminated: 'was terminated before it finished',
} as const;

const RECEIVERS = {
  call: ' The call that waits for it gets its report.',
  message: ' Its report comes as a message.',
  dropped: ' Its report is dropped: this thread is over.',
} as const;
