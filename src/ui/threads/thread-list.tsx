/** The threads: those that wait for somebody and those that failed on top, then all; kept up to date. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Answers } from '../../client/http/answers.ts';
import { type Filters, toFragment } from '../address.ts';
import { CommandLine } from '../parts/act-button.tsx';
import { NoThreads, Refusal } from '../parts/guide.tsx';
import { filterBy } from '../router.ts';
import { everthread } from '../session/commands.ts';
import { ask } from '../session/session.ts';
import { abortWhenHidden, whenVisible } from '../session/visibility.ts';
import { age, count, money, plural, shorten } from '../text.ts';
import { FilterBar, toQuery } from './filter-bar.tsx';

type Thread = Answers['GET /v1/threads']['threads'][number];

interface Listed {
  readonly waiting: readonly Thread[];
  readonly failed: readonly Thread[];
  readonly rest: readonly Thread[];
  readonly cursor: string | null;
}

const PAGE = 50;
/** Most threads of the two groups on top. */
const ON_TOP = 10;
/** A list that changes all the time is read again no more often than this. */
const AGAIN_MS = 1000;
const CHANGES_WAIT_S = 20;

async function readList(filters: Filters, pages: number): Promise<Listed> {
  const page = (query: object) =>
    ask('GET /v1/threads', {}, { query: { rootsOnly: true, ...toQuery(filters), ...query } });
  const grouped = filters.status === undefined && filters.sort === undefined;
  const [waiting, failed, first] = await Promise.all([
    grouped ? page({ status: 'waiting', limit: ON_TOP }) : null,
    grouped ? page({ status: 'failed', limit: ON_TOP }) : null,
    page({ limit: PAGE }),
  ]);
  const threads = [...first.threads];
  let { cursor } = first;
  for (let n = 1; n < pages && cursor !== null; n += 1) {
    const next = await page({ limit: PAGE, cursor });
    threads.push(...next.threads);
    cursor = next.cursor;
  }
  const onTop = [...(waiting?.threads ?? []), ...(failed?.threads ?? [])];
  const shown = new Set(onTop.map(({ id }) => id));
  return {
    waiting: waiting?.threads ?? [],
    failed: failed?.threads ?? [],
    rest: threads.filter(({ id }) => !shown.has(id)),
    cursor,
  };
}

/**
 * Calls `changed` when threads may have changed, until it is aborted; after a while without a change as well: ages grow,
 * and a token of a user or an organisation does not hear that a thread was deleted.
 */
async function watchChanges(changed: () => void, closed: AbortSignal): Promise<void> {
  let cursor: string | undefined;
  while (!closed.aborted) {
    const hidden = abortWhenHidden();
    const signal = AbortSignal.any([closed, hidden.signal]);
    try {
      const query = { cursor, limit: 100, ...(cursor !== undefined && { wait: CHANGES_WAIT_S }) };
      const page = await ask('GET /v1/threads/changes', {}, { query, signal });
      changed();
      cursor = page.cursor;
    } catch {
      if (hidden.signal.aborted) await whenVisible(closed);
      // The cursor is of another store, or the token was revoked: the list is read anew, and tells.
      else [cursor] = [undefined, changed()];
    } finally {
      hidden.stop();
    }
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}

export function ThreadList({ filters }: { readonly filters: Filters }) {
  const listed = useSignal<Listed | null>(null);
  const failure = useSignal<unknown>(null);
  const pages = useSignal(1);
  const version = useSignal(0);
  const asked = JSON.stringify(filters);
  useEffect(() => {
    document.title = 'Threads';
    const closing = new AbortController();
    void watchChanges(() => (version.value += 1), closing.signal);
    return () => closing.abort();
  }, []);
  useEffect(() => {
    let over = false;
    readList(filters, pages.value).then(
      (found) => {
        if (!over) [listed.value, failure.value] = [found, null];
      },
      (error: unknown) => {
        if (!over) failure.value = error;
      },
    );
    return () => {
      over = true;
    };
  }, [asked, pages.value, version.value]);
  const { value: shown } = listed;
  const isEmpty = shown && shown.waiting.length + shown.failed.length + shown.rest.length === 0;
  return (
    <main class="threads">
      <h1 class="unseen">Threads</h1>
      <FilterBar filters={filters} version={version.value} />
      {failure.value !== null && <Refusal error={failure.value} />}
      {!shown && failure.value === null && <p class="faint">Reading the threads…</p>}
      {isEmpty &&
        (Object.keys(filters).length === 0 ? (
          <NoThreads />
        ) : (
          <p class="guide">
            No thread fits these filters.{' '}
            <button type="button" class="quiet" onClick={() => filterBy({})}>
              Show all
            </button>
          </p>
        ))}
      {shown && (
        <>
          <Group title="Waiting for somebody" threads={shown.waiting} />
          <Group title="Failed" threads={shown.failed} />
          <Group
            title={shown.waiting.length + shown.failed.length > 0 ? 'All others' : ''}
            threads={shown.rest}
          />
          {shown.cursor !== null && (
            <button type="button" class="plain more" onClick={() => (pages.value += 1)}>
              Show more
            </button>
          )}
        </>
      )}
      <CommandLine usual={listCommand(filters)} />
    </main>
  );
}

const OPTIONS: Readonly<Record<string, string>> = {
  status: '--status',
  agent: '--agent',
  userId: '--user',
  organizationId: '--organization',
  tag: '--tag',
  sort: '--sort',
};

function listCommand(filters: Filters): string {
  const options = Object.entries(filters).flatMap(([name, value]) => {
    const option = OPTIONS[name];
    return option ? [option, value] : [];
  });
  return everthread('threads', 'list', ...options);
}

function Group({ title, threads }: { readonly title: string; readonly threads: readonly Thread[] }) {
  if (threads.length === 0) return null;
  return (
    <section aria-label={title || 'Threads'}>
      {title !== '' && <h2>{title}</h2>}
      <ul class="list">
        {threads.map((thread) => (
          <li key={thread.id}>
            <ThreadRow thread={thread} />
          </li>
        ))}
      </ul>
    </section>
  );
}

const WAITS: Readonly<Record<string, string>> = {
  approval: 'to approve',
  question: 'to answer',
  variables: 'variables of',
  paused: 'to let go on:',
  reconcile: 'to say whether it was done:',
  model: 'the model',
};

function ThreadRow({ thread }: { readonly thread: Thread }) {
  const { id, status, agent, name, costUsd, firstWords, lastWords, waitingFor, failedCode } = thread;
  const words = firstWords ?? name ?? '';
  const tokens = thread.inputTokens + thread.outputTokens;
  const state = waitingFor
    ? `${WAITS[waitingFor.kind] ?? waitingFor.kind} ${waitingFor.name} (${age(waitingFor.since)})`
    : (failedCode ?? (lastWords === firstWords ? null : lastWords));
  return (
    <a class="entry" data-row href={toFragment({ view: 'thread', threadId: id })}>
      <span class={`status ${status}`}>{status}</span>
      <bdi class="agent">{agent}</bdi>
      <span class="what">
        <bdi>{words === '' ? <span class="faint">{id}</span> : shorten(words, 120)}</bdi>
        {state && <bdi class="faint">{shorten(state, 100)}</bdi>}
      </span>
      <span class="number faint" title={tokens > 0 ? `${count(tokens)} tokens` : undefined}>
        {costUsd ? money(costUsd) : plural(thread.lastStep, 'step')}
      </span>
      <time class="number faint">{age(thread.updatedAt)}</time>
    </a>
  );
}
