/** `everthread threads show`: reads the store, and needs no server. */
import { followEvents } from '../../client/follow-events.ts';
import type { ThreadEvent } from '../../core/event/thread-event.ts';
import type { StoredError } from '../../core/thread/step.ts';
import { escapeControls, shorten } from '../../core/value/shown-text.ts';
import type { ThreadStore } from '../../store/store.ts';
import type { ThreadRecord } from '../../store/thread/thread-record.ts';
import { option, parseWhole, THREAD, toggle } from '../command.ts';
import { readThread, storeCommand } from '../connection/find-store.ts';
import { dateAndTime, printLine, tone } from '../output/output.ts';
import { messageText, threadHeading } from '../output/thread-text.ts';

/** Default number of messages for text; JSON has all of them. */
const SHOWN = 50;
const ALL = 1_000_000;

export const threadShow = storeCommand({
  description:
    'Shows a thread and its messages, oldest first. With --json: { thread, activity, execution, children, budget, messages, total }; execution is the newest, activity is there while a model is waited for.',
  arguments: { thread: THREAD },
  options: {
    limit: option('<n>', `the newest n messages (default: ${SHOWN}; with --json all)`, parseWhole),
    silent: toggle('include messages that are hidden from ordinary lists'),
    debug: toggle('include where in the code tools, hooks and effects have failed (with --json: faults)'),
  },
  async read(store, { thread: threadId, json, limit = json ? ALL : SHOWN, silent: includeSilent, debug }) {
    const known = await readThread(store, threadId);
    const [thread = known] = await store.threads.conceal([known]);
    const { messages, total } = await store.messages.list(threadId, { limit, includeSilent });
    // The record's count is an upper bound: a thread that never had a child costs no read.
    const children = thread.childCount === 0 ? [] : await store.children.list(threadId);
    const execution = (await store.executions.get(threadId)) ?? undefined;
    const budget = await store.budgets.read(threadId);
    const activity = await readActivity(store, thread);
    const faults = debug ? await readFaults(store, threadId) : undefined;
    if (json) return { json: { thread, activity, execution, children, budget, messages, total, faults } };
    printLine(`${threadHeading(thread, { activity, children, execution, budget })}\n`);
    const earlier = total - messages.length;
    if (earlier > 0)
      printLine(
        tone('dim', `… ${earlier} earlier ${earlier === 1 ? 'message' : 'messages'}: --limit shows more\n`),
      );
    for (const message of messages) printLine(messageText(message));
    if (total === 0) printLine(tone('dim', 'no messages yet'));
    for (const fault of faults ?? []) printLine(`\n${faultText(fault)}`);
    if (faults?.length === 0) printLine(tone('dim', '\nno code has failed'));
    return undefined;
  },
});

/** Rows of the log in which a wait for a model would stand; messages may have been queued behind it. */
const NEWEST_ROWS = 20;

/** What a running thread waits for; undefined if it is at work. */
async function readActivity(
  { events }: Pick<ThreadStore, 'events'>,
  { id, status, lastSeq }: ThreadRecord,
): Promise<string | undefined> {
  if (status !== 'running') return undefined;
  const rows = await events.read(id, Math.max(0, lastSeq - NEWEST_ROWS), NEWEST_ROWS);
  const newest = rows.findLast(({ type }) => /^(model|step|tool)\./.test(type));
  return newest?.type === 'model.held' ? `waiting for the model ${newest.data.model}` : undefined;
}

/**
 * What `threads show --debug` prints beside the messages: where author code of a tool, a hook or an effect failed, and what of its
 * results or its scratch could not be kept.
 */

/** A fault as `--json` prints it. */
interface FaultRecord {
  readonly seq: number;
  readonly at: number;
  /** The kind of its event. */
  readonly type: string;
  readonly step?: number;
  /** The name of the tool, hook or effect. */
  readonly name: string;
  /** Set for a tool call. */
  readonly callId?: string;
  readonly error?: string;
  /** Absent for a note: nothing has failed. */
  readonly stack?: string;
}

/** Returns the faults and notes of a thread, oldest first. */
async function readFaults(store: ThreadStore, threadId: string): Promise<FaultRecord[]> {
  const faults: FaultRecord[] = [];
  for await (const event of followEvents(store, threadId, { follow: false })) {
    const fault = toFault(event);
    if (fault) faults.push(fault);
  }
  return faults;
}

function toFault({ seq, at, type, step, data }: ThreadEvent): FaultRecord | undefined {
  if ('note' in data && 'code' in data)
    return {
      seq,
      at,
      type,
      step,
      name: data.name ?? '',
      error: data.note,
    };
  if (!('stack' in data) || data.stack === undefined) return undefined;
  const name = 'name' in data ? data.name : data.id;
  return {
    seq,
    at,
    type,
    step,
    name: name ?? '',
    ...('callId' in data ? { callId: data.callId } : {}),
    ...('error' in data ? { error: toText(data.error) } : {}),
    stack: data.stack,
  };
}

/** Returns the message; the error of an effect is stored with a code. */
function toText(error: string | StoredError): string {
  return typeof error === 'string' ? error : error.message;
}

function faultText({ at, type, step, name, stack, error = '' }: FaultRecord): string {
  const place = step === undefined ? '' : ` in step ${step}`;
  const heading = `${dateAndTime(at)}  ${type} ${shorten(name, 60)}${place}`;
  const lines = (stack ?? error).split('\n').map((line) => `  ${escapeControls(line)}`);
  return `${tone('red', heading)}\n${tone('dim', lines.join('\n'))}`;
}
