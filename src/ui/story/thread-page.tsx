/** One thread: its heading, its story, the dock with what it waits for, and the drawer. */
import { useComputed } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { TABS, type Tab, toFragment } from '../address.ts';
import { Dock } from '../dock/dock.tsx';
import { Drawer } from '../drawer/drawer.tsx';
import { Refusal } from '../parts/guide.tsx';
import { Windowed } from '../parts/windowed.tsx';
import { openTab } from '../router.ts';
import { serverFacts } from '../session/session.ts';
import { ago, count, money, plural, shorten } from '../text.ts';
import { StoryItem } from './items.tsx';
import { ThreadReading } from './reading.ts';
import { mergeNotes } from './story-line.ts';

interface ThreadPageProps {
  readonly threadId: string;
  readonly tab: Tab | undefined;
  readonly call: string | undefined;
}

export function ThreadPage({ threadId, tab, call }: ThreadPageProps) {
  const reading = useMemo(() => new ThreadReading(threadId), [threadId]);
  useEffect(() => {
    void reading.open(true);
    return () => reading.close();
  }, [reading]);
  const { value: thread } = reading.thread;
  useEffect(() => {
    document.title = thread
      ? `${thread.status === 'waiting' ? '(!) ' : ''}${thread.agent}, ${thread.status}`
      : 'Everthread';
  }, [thread?.status, thread?.agent]);
  if (reading.failure.value !== null && !thread) return <Refusal error={reading.failure.value} />;
  return (
    <main class={`thread ${tab ? 'split' : ''}`} data-thread={threadId}>
      <section class="column" aria-label="Thread">
        <Heading reading={reading} tab={tab} />
        {reading.failure.value !== null && <Refusal error={reading.failure.value} />}
        <Story reading={reading} />
        {thread && <Dock reading={reading} />}
      </section>
      {tab && thread && <Drawer reading={reading} tab={tab} call={call} />}
    </main>
  );
}

function Heading({ reading, tab }: { readonly reading: ThreadReading; readonly tab: Tab | undefined }) {
  const thread = reading.thread.value;
  const facts = serverFacts.value;
  const hasChildren = useComputed(() => reading.changes.value >= 0 && reading.log.children.size > 0);
  if (!thread) return <header class="heading faint">Reading the thread…</header>;
  const { costUsd, inputTokens, outputTokens } = thread;
  const tokens = inputTokens + outputTokens;
  const parts = [
    plural(thread.lastStep, 'step'),
    costUsd > 0 && `${money(costUsd)}${hasChildren.value ? ' without its subagents' : ''}`,
    tokens > 0 && `${count(tokens)} tokens`,
    `changed ${ago(thread.updatedAt)}`,
  ];
  return (
    <header class="heading">
      <h1>
        <span class={`status ${thread.status}`}>{thread.status}</span>{' '}
        <bdi>{thread.name ?? thread.agent}</bdi>
      </h1>
      <p class="faint">
        <bdi title={`Id of the thread: ${thread.id}`}>{thread.id}</bdi> · {parts.filter(Boolean).join(' · ')}
        {thread.parentId && (
          <>
            {' · '}
            <a href={toFragment({ view: 'thread', threadId: thread.parentId })}>its parent</a>
          </>
        )}
        {facts?.temporal.uiUrl && (
          <>
            {' · '}
            <a
              rel="noreferrer"
              target="_blank"
              href={workflowUrl(facts.temporal.uiUrl, facts.temporal.namespace, thread.id)}
            >
              Temporal’s Web UI
            </a>
          </>
        )}
      </p>
      {thread.lastError && (
        <p class="line failure">
          <bdi>
            {thread.lastError.code}: {shorten(thread.lastError.message, 400)}
          </bdi>
        </p>
      )}
      <nav aria-label="Details">
        {TABS.map((each) => (
          <button
            type="button"
            key={each}
            class="tab"
            aria-pressed={each === tab}
            onClick={() => openTab(thread.id, each === tab ? undefined : each)}
          >
            {each}
          </button>
        ))}
      </nav>
    </header>
  );
}

function workflowUrl(uiUrl: string, namespace: string, threadId: string): string {
  return `${uiUrl}/namespaces/${encodeURIComponent(namespace)}/workflows/${encodeURIComponent(`thread/${threadId}`)}`;
}

/** Pixels of an entry that has not been shown. */
const ESTIMATE = 44;

function Story({ reading }: { readonly reading: ThreadReading }) {
  const items = useComputed(() => {
    void reading.changes.value;
    return mergeNotes(reading.log.items, reading.notes, reading.from);
  });
  if (items.value.length === 0)
    return <div class="scroller empty faint">{reading.loading.value ? '' : 'Nothing has happened yet.'}</div>;
  return (
    <Windowed
      items={items.value}
      estimate={ESTIMATE}
      follow
      label="Story of the thread"
      onTop={() => void reading.readEarlier()}
      render={(item) => <StoryItem item={item} reading={reading} />}
    />
  );
}
