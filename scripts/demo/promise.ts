/** Checks Everthread's promises after the story, in the store, the event log and the bulletin. */
import { type Entry, readEntries } from '../../agents/tools/_bulletin.ts';
import type { RuntimeClient } from '../../src/client/runtime-client.ts';
import { eventsOf, type ThreadEvent } from '../../src/core/event/thread-event.ts';
import type { Message } from '../../src/core/message/message.ts';
import type { ThreadRecord } from '../../src/store/thread/thread-record.ts';
import { toToolCalls } from './narrator.ts';
import type { SecretSearch } from './secret.ts';
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
  /** Entries of the bulletin by this thread only. */
  readonly entries: readonly Entry[];
  /** Search for the bulletin's key outside of the bulletin's own files. */
  readonly search: SecretSearch;
  /** The model's programs, kept as files of the thread. */
  readonly programs: readonly string[];
}

const PROMISES: readonly ((evidence: Evidence) => Finding)[] = [
  ({ messages }) => {
    const own = messages.filter(({ role, metadata }) => role === 'user' && !metadata.scheduledEffect);
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
    const steps = new Set(events.filter((event) => event.type === 'step.started').map(({ step }) => step));
    const retried = events.filter((event) => event.type === 'step.retried').map(({ step }) => step);
    const cutOff = crashes.filter((crash) => crash.of === 'answer').map(({ step }) => step);
    return {
      kept: retried.length === cutOff.length && retried.every((step) => cutOff.includes(step ?? -1)),
      text: `${steps.size} model steps, ${retried.length === 0 ? 'none repeated' : `none repeated but step ${retried.join(', ')}, which was cut off`}`,
    };
  },
  ({ events, entries }) => {
    const begun = eventsOf(events, 'tool.started').filter(({ data }) => data.name === 'publish_summary');
    const calls = new Set(begun.map(({ step, data }) => `${step} ${data.callId}`));
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
  ({ events }) => {
    const due = new Map(eventsOf(events, 'effect.scheduled').map(({ data }) => [data.id, data.dueAt]));
    const begun = eventsOf(events, 'effect.started');
    const done = events.filter(isType('effect.done'));
    const late = begun.map(({ at, data }) => at - (due.get(data.id) ?? Number.POSITIVE_INFINITY));
    const told = late.length === 0 ? '' : `, ${Math.round(Math.min(...late) / 1000)} ms after its time`;
    return {
      kept: late.every((microseconds) => microseconds >= 0) && done.length === begun.length,
      text: `${count(due.size, 'follow-up')} scheduled by a call that died, ${done.length} fired${told}`,
    };
  },
  ({ search, entries }) => ({
    kept: search.found.length === 0,
    text:
      search.found.length > 0
        ? `the bulletin's key stands in clear in ${search.found.join(', ')}`
        : `the key that signed ${count(entries.filter(({ signature }) => signature).length, 'entry', 'entries')} is nowhere in ${count(search.files, 'file')} of store, server and logs (${search.megabytes} MB searched)`,
  }),
  ({ programs, messages }) => {
    const asked = messages.flatMap(toToolCalls).map(({ function: { arguments: given } }) => given);
    return {
      kept: programs.every((source) => asked.includes(JSON.stringify({ source }))),
      text: `${count(programs.length, 'program')} of the model kept as a file of the thread, and read back`,
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
  { events, crashes, search }: Pick<Evidence, 'events' | 'crashes' | 'search'>,
): Promise<Finding[]> {
  const thread = await client.getThread(threadId);
  const { messages } = await client.getMessages(threadId, { limit: 10_000, includeSilent: true });
  const entries = (await readEntries()).filter(({ key }) => key.startsWith(`${threadId}:`));
  const programs = await readPrograms(client, threadId, messages);
  return PROMISES.map((promise) => promise({ thread, messages, events, crashes, entries, search, programs }));
}

const isType = (wanted: string) => (event: ThreadEvent) => event.type === wanted;

async function readPrograms(
  client: RuntimeClient,
  threadId: string,
  messages: readonly Message[],
): Promise<string[]> {
  const refs = messages.flatMap(({ attachments }) => attachments ?? []);
  const files = await Promise.all(refs.map(({ path }) => client.files(threadId).read(path)));
  return files.map((bytes) => new TextDecoder().decode(bytes ?? new Uint8Array()));
}

/** Returns the id of the message whose call a result answers: providers may reuse a call's id in a later step. */
function callBefore(messages: readonly Message[], callId: string | null, at: number): string {
  const askers = messages.filter(
    (message) => message.created_at < at && toToolCalls(message).some(({ id }) => id === callId),
  );
  return askers.at(-1)?.id ?? '';
}

function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}
