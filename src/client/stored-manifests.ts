/**
 * What each request of a thread to a model contained: the estimate made before it, beside the tokens that its provider
 * counted.
 */

import type { EventData } from '../core/event/event-data.ts';
import { eventsOf, type ThreadEvent } from '../core/event/thread-event.ts';
import type { ThreadStore } from '../store/store.ts';

export interface RequestManifest {
  readonly step: number | null;
  readonly manifest: EventData['context.prepared'];
  /** Input tokens as counted by the provider; null if it has not counted them, or the request has not ended yet. */
  readonly countedTokens: number | null;
}

const PAGE_SIZE = 1000;

/** Oldest first; only of executions with a context, a policy or a budget. */
export async function listManifests(
  store: ThreadStore,
  threadId: string,
): Promise<readonly RequestManifest[]> {
  const events: ThreadEvent[] = [];
  for (;;) {
    const page = await store.events.read(threadId, events.at(-1)?.seq ?? 0, PAGE_SIZE);
    events.push(...page);
    if (page.length < PAGE_SIZE) break;
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
