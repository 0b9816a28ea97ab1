/** Helpers for tests of effects: schedule one from outside, as an endpoint would, and wait for its end. */
import type { RuntimeClient } from '../../src/client/runtime-client.ts';
import type { EventKind, ThreadEvent, ThreadEventOf } from '../../src/core/event/thread-event.ts';
import type { NewEffect } from '../../src/store/effect/effect-record.ts';
import { eventually } from './eventually.ts';
import type { TestRuntime } from './runtime.ts';

type Stored = Pick<TestRuntime, 'store'>;

/** Schedules an effect whose id is its name; due at once unless `fields` says otherwise. */
export async function schedule(
  client: RuntimeClient,
  thread: string,
  name: string,
  fields: Partial<NewEffect> = {},
): Promise<void> {
  const inMs = await client.store.effects.schedule(thread, {
    id: name,
    name,
    args: {},
    delayMs: 0,
    ...fields,
  });
  await client.wakeForEffects(thread, inMs);
}

export async function eventsOf<Kind extends EventKind>(
  { store }: Stored,
  thread: string,
  ...kinds: Kind[]
): Promise<(ThreadEvent & ThreadEventOf<Kind>)[]> {
  const events = await store.events.read(thread, 0, 1_000_000);
  return events.filter((event): event is ThreadEvent & ThreadEventOf<Kind> =>
    (kinds as EventKind[]).includes(event.type),
  );
}

/** Resolves with the end events of effects, in order, once there are `count`. */
export function ended(place: Stored, thread: string, count: number): Promise<ThreadEvent[]> {
  return eventually(`${count} effects to end`, async () => {
    const events = await eventsOf(place, thread, 'effect.done', 'effect.failed');
    return events.length >= count && events;
  });
}
