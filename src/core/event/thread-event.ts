/** Rows of a thread's log, by kind. The data of each kind are in `event-data.ts`. */
import type { EventData } from './event-data.ts';

export type { EventData } from './event-data.ts';

export type EventKind = keyof EventData;

/** One row of a thread's log. `seq` is assigned without gaps; removed rows leave gaps. */
export interface ThreadEventOf<Kind extends EventKind> {
  readonly seq: number;
  /** Microseconds since 1970. */
  readonly at: number;
  readonly type: Kind;
  readonly step?: number;
  readonly attempt?: number;
  readonly data: EventData[Kind];
}

/** Narrow it by its `type`. */
export type ThreadEvent = { [Kind in EventKind]: ThreadEventOf<Kind> }[EventKind];

/** How long rows are kept. `always`: as long as the thread; `chunk`: until ten minutes after the end of its execution. */
export const EVENT_KINDS: Readonly<Record<EventKind, 'always' | 'chunk'>> = {
  'thread.created': 'always',
  'thread.forked': 'always',
  'thread.status': 'always',
  'thread.agent': 'always',
  'thread.terminated': 'always',
  'execution.started': 'always',
  'execution.ended': 'always',
  'execution.aborted': 'always',
  'produced.line': 'always',
  'produced.ended': 'always',
  'budget.warning': 'always',
  'budget.exceeded': 'always',
  'item.queued': 'always',
  'item.rejected': 'always',
  'message.created': 'always',
  'message.updated': 'always',
  'message.deleted': 'always',
  'messages.superseded': 'always',
  'attachment.missing': 'always',
  'step.started': 'always',
  'step.retried': 'always',
  'step.committed': 'always',
  'output.rejected': 'always',
  'step.failed': 'always',
  'context.trimmed': 'always',
  'context.undercounted': 'always',
  'context.compacted': 'always',
  'context.prepared': 'always',
  'model.called': 'always',
  'model.chunk': 'chunk',
  'model.answered': 'always',
  'model.failed': 'always',
  'model.waiting': 'always',
  'model.held': 'always',
  'attempt.discarded': 'always',
  'tool.called': 'always',
  'tool.started': 'always',
  'tool.result': 'always',
  'tool.unknown': 'always',
  'tool.late_result': 'always',
  'tool.removed': 'always',
  'tool.invoked': 'always',
  'mcp.listed': 'always',
  'mcp.failed': 'always',
  'a2a.task': 'always',
  'loop.warning': 'always',
  'loop.critical': 'always',
  'action.requested': 'always',
  'action.policy': 'always',
  'action.denied': 'always',
  'action.started': 'always',
  'action.completed': 'always',
  'action.failed': 'always',
  'action.uncertain': 'always',
  'action.reconciled': 'always',
  'hook.failed': 'always',
  'code.stray': 'always',
  'code.note': 'always',
  'effect.scheduled': 'always',
  'effect.started': 'always',
  'effect.done': 'always',
  'effect.failed': 'always',
  'effect.cancelled': 'always',
  'subagent.created': 'always',
  'subagent.messaged': 'always',
  'subagent.notified': 'always',
  'subagent.status': 'always',
  'subagent.returned': 'always',
  'subagent.failed': 'always',
  'variables.requested': 'always',
  'wait.opened': 'always',
  'wait.answered': 'always',
  'grant.revoked': 'always',
  'wait.closed': 'always',
  'task.created': 'always',
  'task.manifest': 'always',
  'task.checking': 'always',
  'task.asked': 'always',
  'task.answered': 'always',
  'task.acquiring': 'always',
  'task.acquired': 'always',
  'task.readiness': 'always',
  'task.observed': 'always',
  'task.decided': 'always',
  'task.acting': 'always',
  'task.acted': 'always',
  'task.emitted': 'always',
  'task.failed': 'always',
  'task.ended': 'always',
  'value.changed': 'always',
  'file.created': 'always',
  'file.updated': 'always',
  'file.deleted': 'always',
  custom: 'always',
};

/** True for a known kind. Checks own properties only: the kind in a row may be any text. */
export function isEventKind(type: string): type is EventKind {
  return Object.hasOwn(EVENT_KINDS, type);
}

/** The rows of one kind, in order. */
export function eventsOf<Kind extends EventKind>(
  events: readonly ThreadEvent[],
  kind: Kind,
): ThreadEventOf<Kind>[] {
  return events.filter((event): event is ThreadEvent & ThreadEventOf<Kind> => event.type === kind);
}
