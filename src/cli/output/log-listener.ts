/**
 * Logs what threads do, for worker and dev: one line for each message, step, tool call, report, retry and failure. The
 * other events appear at the level debug, except `UNLOGGED_KINDS`.
 * - Lines have no content: what people, models and tools say is only in the thread.
 * - A line is red if a person must act.
 */
import {
  EVENT_KINDS,
  type EventData,
  type EventKind,
  type ThreadEvent,
} from '../../core/event/thread-event.ts';
import type { StoredError } from '../../core/thread/step.ts';
import type { EventListener } from '../../store/transaction/event-record.ts';
import { commandName } from '../command-name.ts';
import { ACTION_REQUIRED, FIELDS_IN_MESSAGE, type WorkerLogger } from './logger.ts';

interface LogLine {
  readonly level: 'DEBUG' | 'INFO' | 'WARN' | 'ERROR';
  readonly message: string;
  readonly fields?: Readonly<Record<string, unknown>>;
  /** A person must do something. */
  readonly act?: boolean;
}

/** Most begins kept until their end; some ends never come, because another worker has taken over. */
const MAX_STARTED = 10_000;
/** Events without a line: reported with their effect or by another line, or too many. */
const UNLOGGED_KINDS: ReadonlySet<EventKind> = new Set(['model.chunk', 'hook.failed', 'code.stray'] as const);

export function createLogListener(logger: Pick<WorkerLogger, 'log'>): EventListener {
  const story = new LogLineBuilder();
  const kinds = Object.keys(EVENT_KINDS) as EventKind[];
  return {
    kinds: new Set(kinds.filter((kind) => !UNLOGGED_KINDS.has(kind))),
    told({ threadId, agent, span }, event) {
      const { level, message, fields, act = false } = story.lineOf(threadId, event);
      const marks = { [FIELDS_IN_MESSAGE]: level !== 'DEBUG', ...(act ? { [ACTION_REQUIRED]: true } : {}) };
      logger.log(level, message, { agent, threadId, step: event.step, ...fields, ...span, ...marks });
    },
  };
}

export class LogLineBuilder {
  /** Begin in microseconds since 1970, by thread with step or call. */
  readonly #startedAt = new Map<string, number>();

  lineOf(threadId: string, event: ThreadEvent): LogLine {
    switch (event.type) {
      case 'message.created':
        return messageLine(event.data);
      case 'step.started':
        this.#recordStart(`${threadId} ${event.step}`, event.at);
        break;
      case 'tool.started':
        this.#recordStart(`${threadId} ${event.data.callId}`, event.at);
        break;
      case 'step.committed':
        return stepLine(event.data, this.#takeDuration(`${threadId} ${event.step}`, event.at));
      case 'tool.result':
        return toolLine(event.data, this.#takeDuration(`${threadId} ${event.data.callId}`, event.at));
      default:
    }
    return LINES[event.type]?.(event.data as never) ?? restLine(event);
  }

  #recordStart(key: string, at: number): void {
    if (this.#startedAt.size >= MAX_STARTED) this.#startedAt.clear();
    this.#startedAt.set(key, at);
  }

  /** Returns the duration in milliseconds; undefined if its begin was not seen here. */
  #takeDuration(key: string, at: number): number | undefined {
    const begun = this.#startedAt.get(key);
    this.#startedAt.delete(key);
    return begun === undefined ? undefined : Math.round((at - begun) / 1000);
  }
}

/** Messages of models and tools are DEBUG: their step or call has its own line. */
function messageLine({ role, messageId }: EventData['message.created']): LogLine {
  const level = role === 'user' || role === 'system' ? 'INFO' : 'DEBUG';
  return { level, message: `message (${role})`, fields: { messageId } };
}

function stepLine(
  { model, finishReason, usage, depth }: EventData['step.committed'],
  durationMs: number | undefined,
): LogLine {
  const tokens = usage ? `, ${usage.promptTokens} tokens in, ${usage.completionTokens} out` : '';
  const within = depth ? ' of a sub-prompt' : '';
  return {
    level: 'INFO',
    message: `step${within}: ${model}${durationText(durationMs)}${tokens} (${finishReason})`,
    fields: { model, finishReason, durationMs, ...tokenFields(usage) },
  };
}

function tokenFields(usage: EventData['step.committed']['usage']) {
  return usage && { tokensIn: usage.promptTokens, tokensOut: usage.completionTokens };
}

function toolLine(
  { name, status, callId }: EventData['tool.result'],
  durationMs: number | undefined,
): LogLine {
  return {
    level: 'INFO',
    message: `tool ${name}: ${status}${durationText(durationMs)}`,
    fields: { tool: name, status, callId, durationMs },
  };
}

function durationText(milliseconds: number | undefined): string {
  if (milliseconds === undefined) return '';
  return milliseconds < 1000 ? `, ${milliseconds} ms` : `, ${(milliseconds / 1000).toFixed(1)} s`;
}

const LINES: { readonly [Kind in EventKind]?: (data: EventData[Kind]) => LogLine | undefined } = {
  'execution.ended': ({ reason, status, error }) =>
    status === 'failed'
      ? { level: 'ERROR', message: `failed: ${errorText(error) || reason}`, act: true }
      : undefined,
  'step.retried': ({ reason, handedOver }) => (handedOver ? info : warn)(`the step is retried: ${reason}`),
  'model.failed': ({ retryInMs, plain, ...error }) => {
    const then = retryInMs !== undefined || plain ? `; retrying${durationText(retryInMs)}` : '';
    return warn(`the model failed: ${errorText(error)}${then}`);
  },
  'model.waiting': () => warn('the model has not begun to answer yet'),
  'model.held': ({ model, retryInMs, by }) => {
    const why =
      by === 'concurrency' ? 'which has as many requests as it may' : 'whose provider takes no request now';
    return info(`waiting for the model ${model}, ${why}${durationText(retryInMs)}`);
  },
  'attempt.discarded': ({ reason }) =>
    (reason === 'WorkerShutdown' ? info : warn)(`the beginning of an answer is discarded: ${reason}`),
  'output.rejected': ({ problems, last }) =>
    warn(`the answer does not fit its type${last ? '' : ' and is asked for again'}: ${problems}`),
  'tool.unknown': ({ name }) =>
    warn(`tool ${name}: its worker has ended; whether it took effect is unknown`, true),
  'action.uncertain': ({ name }) =>
    warn(`${name}: its worker has ended; whether it took effect is unknown`, true),
  'item.rejected': ({ code, reason }) => warn(`an item was refused: ${code}: ${reason}`),
  'attachment.missing': ({ paths }) => warn(`files are missing: ${paths.join(', ')}`),
  'loop.warning': ({ name, count }) => warn(`the calls of ${name} repeat: ${count} of them`),
  'budget.warning': ({ limit, used, max }) => warn(`the budget is nearly spent: ${limit} ${used} of ${max}`),
  'budget.exceeded': ({ limit, max }) => warn(`the budget is spent: ${limit} ${max}`, true),
  'wait.opened': ({ kind, name, waitId }) =>
    warn(`waits for input: ${kind} (${name}); "${commandName()} waits answer ${waitId}"`, true),
  'wait.answered': ({ kind, name }) => info(`answered: ${kind} (${name})`),
  'subagent.created': ({ agent, name, childId }) =>
    info(`has a subagent: ${name ?? agent}`, { child: agent, childId }),
  'subagent.returned': ({ agent, childId }) => info(`report of ${agent}`, { child: agent, childId }),
  'subagent.failed': ({ agent, kind, childId }) =>
    warn(`report of ${agent}: ${kind}`, false, { child: agent, childId }),
  'variables.requested': ({ agent, missing }) =>
    warn(`${agent} lacks variables: ${missing.join(', ')}`, true),
  'effect.done': ({ name }) => info(`effect ${name}: done`),
  'effect.failed': ({ name, error }) => warn(`effect ${name}: ${errorText(error)}`),
  'thread.agent': ({ from, to }) => info(`handed over from ${from} to ${to}`),
  'thread.terminated': ({ reason }) => info(`terminated${reason ? `: ${reason}` : ''}`),
  'execution.aborted': ({ status }) => info(`the step was stopped (${status})`),
};

function info(message: string, fields?: LogLine['fields']): LogLine {
  return { level: 'INFO', message, fields };
}

function warn(message: string, act = false, fields?: LogLine['fields']): LogLine {
  return { level: 'WARN', message, act, fields };
}

function restLine({ type, data }: ThreadEvent): LogLine {
  return { level: 'DEBUG', message: type, fields: { data } };
}

function errorText(error: Partial<StoredError> | undefined): string {
  return error ? [error.code, error.message].filter(Boolean).join(': ') : '';
}
