/**
 * What `threads show --debug` prints beside the messages: where author code of a tool, a hook or an effect failed, and what of its
 * results or its scratch could not be kept.
 */
import { followEvents } from '../../client/follow-events.ts';
import type { ThreadEvent } from '../../core/event/thread-event.ts';
import type { StoredError } from '../../core/thread/step.ts';
import type { ThreadStore } from '../../store/store.ts';
import { dateAndTime, tone } from './output.ts';
import { escapeControls, shorten } from './terminal-text.ts';

/** A fault as `--json` prints it. */
export interface FaultRecord {
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
export async function readFaults(store: ThreadStore, threadId: string): Promise<FaultRecord[]> {
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
      ...(step === undefined ? {} : { step }),
      name: data.name ?? '',
      error: data.note,
    };
  if (!('stack' in data) || data.stack === undefined) return undefined;
  const name = 'name' in data ? data.name : data.id;
  return {
    seq,
    at,
    type,
    ...(step === undefined ? {} : { step }),
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

export function faultText({ at, type, step, name, stack, error = '' }: FaultRecord): string {
  const place = step === undefined ? '' : ` in step ${step}`;
  const heading = `${dateAndTime(at)}  ${type} ${shorten(name, 60)}${place}`;
  const lines = (stack ?? error).split('\n').map((line) => `  ${escapeControls(line)}`);
  return `${tone('red', heading)}\n${tone('dim', lines.join('\n'))}`;
}
