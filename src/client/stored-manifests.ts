/** What the requests of a thread to models were made of, as it was estimated, beside what their providers have counted. */

import type { EventData } from '../core/event/event-data.ts';
import { eventsOf, type ThreadEvent } from '../core/event/thread-event.ts';
import type { ThreadStore } from '../store/port/thread-store.ts';

export interface RequestManifest {
  readonly step: number | null;
  readonly manifest: EventData['context.prepared'];
  /** Tokens of input, as the provider has counted them; null where it has not, or the request has no end yet. */
  readonly countedTokens: number | null;
}

const PAGE = 1000;

/** Oldest first. Only where a context, a policy or a budget was in use. */
export async function listManifests(
  store: ThreadStore,
  threadId: string,
): Promise<readonly RequestManifest[]> {
  const events: ThreadEvent[] = [];
  for (;;) {
    const page = await store.events.read(threadId, events.at(-1)?.seq ?? 0, PAGE);
    events.push(...page);
    if (page.length < PAGE) break;
  }
  const counted = new Map(
    eventsOf(events, 'model.answered').map((event) => [keyOf(event), event.data.usage?.promptTokens ?? null]),
  );
  return eventsOf(events, 'context.prepared').map((event) => ({
    step: event.step ?? null,
    manifest: event.data,
    countedTokens: counted.get(keyOf(event)) ?? null,
  }));
}

function keyOf({
  step,
  attempt,
  data: { call },
}: ThreadEvent & { readonly data: { readonly call: number } }) {
  return `${step}:${attempt ?? 1}:${call}`;
}
