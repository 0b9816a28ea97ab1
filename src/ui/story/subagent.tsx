/** A subagent in the story of its parent: opened in place, and read again until it is terminated. */
import { useSignal } from '@preact/signals';
import type { FunctionComponent } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { toFragment } from '../address.ts';
import { messageOf } from '../session/session.ts';
import { ThreadReading } from './reading.ts';
import { type Item, mergeNotes } from './story-line.ts';

/** It is no stream, since a tab has one: it is read again this often. */
const AGAIN_MS = 1500;
/** Most items in place; the thread's own page has all. */
const SHOWN = 30;

interface SubagentProps {
  readonly threadId: string;
  /** Shows an item, as in the story of the parent. */
  readonly show: FunctionComponent<{ readonly item: Item; readonly reading: ThreadReading }>;
}

export function Subagent({ title, ...inside }: SubagentProps & { readonly title: string }) {
  const open = useSignal(false);
  return (
    <details
      class="subagent"
      data-subagent={inside.threadId}
      onToggle={({ currentTarget }) => (open.value = currentTarget.open)}
    >
      <summary>
        Subagent <bdi>{title}</bdi>
      </summary>
      {open.value && <Inside {...inside} />}
    </details>
  );
}

function Inside({ threadId, show: Shown }: SubagentProps) {
  const reading = useMemo(() => new ThreadReading(threadId), [threadId]);
  useEffect(() => {
    void reading.open(false);
    const timer = setInterval(() => {
      // One that is idle may not have begun, or be sent another message.
      if (!document.hidden && reading.thread.value?.terminatedAt === null) void reading.update();
    }, AGAIN_MS);
    return () => {
      clearInterval(timer);
      reading.close();
    };
  }, [reading]);
  // The story changes without its object changing.
  void reading.changes.value;
  const items = mergeNotes(reading.log.items, reading.notes, reading.from);
  const { value: thread } = reading.thread;
  return (
    <div class="inside">
      <p class="line">
        <a href={toFragment({ view: 'thread', threadId })}>Open its own page</a>{' '}
        <span class="faint">
          {thread?.status} {items.length > SHOWN && `· the last ${SHOWN} of ${items.length} entries`}
        </span>
      </p>
      {reading.failure.value !== null && <p class="line failure">{messageOf(reading.failure.value)}</p>}
      {items.slice(-SHOWN).map((item) => (
        <Shown key={item.key} item={item} reading={reading} />
      ))}
    </div>
  );
}
