/**
 * What happens at once when a signal, update or query arrives. Everything here is synchronous (but for the
 * update that may await opening) and never throws in a signal: a bad payload must not fail a workflow task.
 */
import { ApplicationFailure, condition, setHandler } from '@temporalio/workflow';
import { type IncomingItem, type Parsed, parseMessagePayload, parseToolPayload } from '../core/item.ts';
import {
  type MessagePayload,
  queueMessage,
  queueTool,
  sendMessage,
  status,
  stop,
  terminate,
  wakeForEffects,
  wakeForMessages,
} from './messages.ts';
import { refreshDetails, toStatusView } from './presence.ts';
import type { ThreadRun } from './thread-run.ts';

export function registerHandlers(run: ThreadRun): void {
  setHandler(queueMessage, (payload) => receive(run, parseMessagePayload(payload)), {
    description:
      'Queue a message: {"content": "…", "id"?: "…", "role"?: "user" | "assistant"}. Durable, in order.',
  });
  setHandler(queueTool, (payload) => receive(run, parseToolPayload(payload)), {
    description: 'Queue a tool call: {"name": "…", "arguments": {…}, "id"?: "…"}. The model sees its result.',
  });
  setHandler(stop, (payload) => run.requestStop({ reason: readReason(payload) }), {
    description:
      'End the current execution. What is queued stays until the next user message. {"reason"?: "…"}',
  });
  setHandler(terminate, (payload) => run.requestTerminate({ reason: readReason(payload) }), {
    description: 'End the thread for ever. Its history stays readable. {"reason"?: "…"}',
  });
  setHandler(wakeForEffects, (payload) => run.effects.lookIn(readDelay(payload)), {
    description:
      'Look for effects in so many milliseconds: {"inMs"?: 0}. Sent when one was scheduled outside the thread.',
  });
  setHandler(wakeForMessages, (payload) => hearFamily(run, payload), {
    description: 'Look into the queue: another thread of the family has put something there.',
  });
  setHandler(sendMessage, (payload) => send(run, payload), {
    description: 'Queue a message and get its id back, or a refusal with a code.',
    validator: (payload) => refuse(run, parseMessagePayload(payload)),
  });
  setHandler(status, () => toStatusView(run), { description: 'What the thread is doing now.' });
}

function receive(run: ThreadRun, parsed: Parsed<IncomingItem>): void {
  run.acceptOrDrop(parsed);
  refreshDetails(run);
}

/** Accepted at once, so that order holds; answered once it is known that the thread lives. */
async function send(run: ThreadRun, payload: MessagePayload): Promise<{ id: string }> {
  const parsed = parseMessagePayload(payload);
  if (!parsed.ok) throw ApplicationFailure.nonRetryable(parsed.refusal.reason, parsed.refusal.code);
  const accepted = run.accept(parsed.value);
  refreshDetails(run);
  if (!run.opened) await condition(() => run.opened || run.dead);
  if (run.dead) throw terminated(run);
  return accepted;
}

function refuse(run: ThreadRun, parsed: Parsed<IncomingItem>): void {
  if (run.ending) throw terminated(run);
  if (!parsed.ok) throw ApplicationFailure.nonRetryable(parsed.refusal.reason, parsed.refusal.code);
}

function terminated(run: ThreadRun): ApplicationFailure {
  return ApplicationFailure.nonRetryable(
    `Thread "${run.threadId}" is terminated; start a new one.`,
    'ThreadTerminated',
  );
}

/** Whatever cannot be understood means: at once. Looking in vain does no harm. */
function readDelay(payload: unknown): number {
  const inMs = (payload as { inMs?: unknown } | null | undefined)?.inMs;
  return typeof inMs === 'number' && Number.isFinite(inMs) ? inMs : 0;
}

/** Whatever cannot be understood means: look. */
function hearFamily(run: ThreadRun, payload: unknown): void {
  const { reportOf, boot, speaks } = (payload ?? {}) as Record<string, unknown>;
  run.family.hear({ ...(typeof reportOf === 'string' ? { reportOf } : {}), boot: boot === true });
  if (boot !== true) run.announce(1);
  if (speaks === true) run.unpark();
  refreshDetails(run);
}

function readReason(payload: unknown): string | undefined {
  const reason = (payload as { reason?: unknown } | null | undefined)?.reason;
  return typeof reason === 'string' && reason.length > 0 ? reason.slice(0, 500) : undefined;
}
