/** The page: what its address names, below one bar; and what the connection and the last action have to say. */
import { render } from 'preact';
import { helps, KeyHelp, listenForKeys } from './keys.tsx';
import { notice, shownCommand } from './parts/act-button.tsx';
import { TokenForm } from './parts/guide.tsx';
import { followAddress, place } from './router.ts';
import { hasToken, online, openSession, outdated, session, useToken } from './session/session.ts';
import { ThreadPage } from './story/thread-page.tsx';
import { TaskList, TaskPage } from './tasks/task-pages.tsx';
import { ThreadList } from './threads/thread-list.tsx';

function Page() {
  return (
    <>
      <Bar />
      <Announcements />
      <Shown />
      <KeyHelp />
    </>
  );
}

function Bar() {
  const { view } = place.value;
  const inThreads = view === 'threads' || view === 'thread';
  const caller = session.value.kind === 'open' ? session.value.caller : null;
  return (
    <header class="bar">
      <nav aria-label="Page">
        <a href="#/threads" aria-current={inThreads ? 'page' : undefined}>
          Threads
        </a>
        <a href="#/tasks" aria-current={inThreads ? undefined : 'page'}>
          Tasks
        </a>
      </nav>
      <span class="faint">
        <bdi>{caller?.name}</bdi> {caller && !caller.scopes.includes('admin') && caller.scopes.join(', ')}
      </span>
      {hasToken.value && (
        <button type="button" class="quiet" onClick={() => void useToken(null)}>
          Forget token
        </button>
      )}
      <button type="button" class="quiet" aria-label="Keys" onClick={() => (helps.value = true)}>
        ?
      </button>
    </header>
  );
}

function Announcements() {
  return (
    <div class="announcements" role="status">
      {!online.value && (
        <p class="warning">The connection is lost. What is shown may be old; it goes on by itself.</p>
      )}
      {outdated.value && (
        <p class="warning">
          The server has a newer page.{' '}
          <button type="button" class="quiet" onClick={() => location.reload()}>
            Reload
          </button>
        </p>
      )}
      {notice.value && (
        <p class={notice.value.failed ? 'failure' : 'plain'}>
          <bdi>{notice.value.text}</bdi>{' '}
          <button type="button" class="quiet" onClick={() => (notice.value = null)}>
            Close
          </button>
        </p>
      )}
    </div>
  );
}

function Shown() {
  const { value: state } = session;
  if (state.kind === 'opening') return <main class="guide faint">Connecting…</main>;
  if (state.kind === 'refused') return <TokenForm refused={state} />;
  const { value: shown } = place;
  switch (shown.view) {
    case 'threads':
      return <ThreadList filters={shown.filters} />;
    case 'thread':
      return <ThreadPage key={shown.threadId} threadId={shown.threadId} tab={shown.tab} call={shown.call} />;
    case 'tasks':
      return <TaskList />;
    case 'task':
      return <TaskPage key={shown.taskId} taskId={shown.taskId} />;
  }
}

const root = document.getElementById('page');
if (root) {
  place.subscribe(() => (shownCommand.value = null));
  followAddress();
  listenForKeys();
  void openSession();
  render(<Page />, root);
}
