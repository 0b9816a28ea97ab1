/** What Everthread promises, counted after the story from what is there: the store, the event log, the bulletin. */
import { type Entry, readEntries } from '../../agents/tools/_bulletin.ts';
import type { RuntimeClient } from '../../src/client/runtime-client.ts';
import type { Message } from '../../src/core/message.ts';
import type { ThreadEvent, ThreadRecord } from '../../src/store/port.ts';
import { toToolCalls } from './narrator.ts';
import { type Crash, TURNS } from './story.ts';

export interface Finding {
  readonly kept: boolean;
  readonly text: string;
}

interface Evidence {
  readonly thread: ThreadRecord;
  readonly messages: readonly Message[];
  readonly events: readonly ThreadEvent[];
  readonly crashes: readonly Crash[];
  /** Of this thread. */
  readonly entries: readonly Entry[];
}

const PROMISES: readonly ((evidence: Evidence) => Finding)[] = [
  ({ messages }) => {
    const own = messages.filter(({ role }) => role === 'user');
    const calls = messages.flatMap(toToolCalls);
    const results = messages.filter(({ role }) => role === 'tool');
    const answered = new Set(
      results.map(({ tool_call_id: id, created_at: at }) => `${id} ${callBefore(messages, id, at)}`),
    );
    const ids = new Set(messages.map(({ id }) => id));
    return {
      kept:
        own.length === TURNS &&
        ids.size === messages.length &&
        calls.length === results.length &&
        answered.size === results.length,
      text: `${messages.length} messages, each stored once: ${own.length} of yours, ${results.length} results for ${calls.length} tool calls`,
    };
  },
  ({ events, crashes }) => {
    const steps = new Set(events.filter(({ type }) => type === 'step.started').map(({ step }) => step));
    const retried = events.filter(({ type }) => type === 'step.retried').map(({ step }) => step);
    const cutOff = crashes.filter((crash) => crash.of === 'answer').map(({ step }) => step);
    return {
      kept: retried.length === cutOff.length && retried.every((step) => cutOff.includes(step ?? -1)),
      text: `${steps.size} model steps, ${retried.length === 0 ? 'none repeated' : `none repeated but step ${retried.join(', ')}, which was cut off`}`,
    };
  },
  ({ events, entries }) => {
    const begun = events.filter(
      ({ type, data }) => type === 'tool.started' && data.name === 'publish_summary',
    );
    const calls = new Set(begun.map(({ step, data }) => `${step} ${String(data.callId)}`));
    const keys = new Set(entries.map(({ key }) => key));
    return {
      kept: begun.length === calls.size && keys.size === entries.length && entries.length <= calls.size,
      text: `at most once: ${count(calls.size, 'call')} of publish_summary, begun ${count(begun.length, 'time')}, ${count(entries.length, 'entry', 'entries')} on the bulletin`,
    };
  },
  ({ messages, crashes }) => {
    const lost = crashes.filter((crash) => crash.of === 'tool').length;
    const told = messages.filter(
      ({ role, metadata }) => role === 'tool' && metadata.outcome === 'unknown',
    ).length;
    return {
      kept: told === lost,
      text: `${count(lost, 'call')} lost with its worker, ${told} told to the model as "outcome unknown"`,
    };
  },
  ({ events }) => ({
    kept: events.every(({ seq }, index) => seq === index + 1),
    text: `${events.length} events, followed live through every crash, without a gap`,
  }),
  ({ thread }) => ({
    kept: thread.status === 'idle',
    text: `the thread rests and takes the next message (status ${thread.status})`,
  }),
];

export async function checkPromises(
  client: RuntimeClient,
  threadId: string,
  { events, crashes }: Pick<Evidence, 'events' | 'crashes'>,
): Promise<Finding[]> {
  const thread = await client.getThread(threadId);
  const { messages } = await client.getMessages(threadId, { limit: 10_000, includeSilent: true });
  const entries = (await readEntries()).filter(({ key }) => key.startsWith(`${threadId}:`));
  return PROMISES.map((promise) => promise({ thread, messages, events, crashes, entries }));
}

/** The message whose call a result answers: providers may use the id of a call again in a later step. */
function callBefore(messages: readonly Message[], callId: string | null, at: number): string {
  const askers = messages.filter(
    (message) => message.created_at < at && toToolCalls(message).some(({ id }) => id === callId),
  );
  return askers.at(-1)?.id ?? '';
}

function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}
