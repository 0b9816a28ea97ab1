/** Tasks: their list, and one with its steps and its log. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { liveLines } from '../../client/http/live-lines.ts';
import { toFragment } from '../address.ts';
import { WaitCard } from '../dock/wait-card.tsx';
import { ActButton, attempt, CommandLine } from '../parts/act-button.tsx';
import { Refusal } from '../parts/guide.tsx';
import { Loaded, useLoad } from '../parts/loaded.tsx';
import { Fields, Folded } from '../parts/values.tsx';
import { Windowed } from '../parts/windowed.tsx';
import { everthread } from '../session/commands.ts';
import { act, ask, connection, may } from '../session/session.ts';
import { abortWhenHidden, whenVisible } from '../session/visibility.ts';
import { age, money, plural } from '../text.ts';

export function TaskList() {
  const load = useLoad(() => ask('GET /v1/tasks', {}, { query: { limit: 100 } }), []);
  useEffect(() => {
    document.title = 'Tasks';
    const timer = setInterval(() => document.hidden || load.again(), 3000);
    return () => clearInterval(timer);
  }, []);
  return (
    <main class="threads">
      <h1 class="unseen">Tasks</h1>
      <Loaded load={load}>
        {({ tasks }) => (
          <>
            {tasks.length === 0 && (
              <p class="guide">
                No tasks yet. A task works towards a goal step by step: everthread tasks start --help
              </p>
            )}
            <ul class="list">
              {tasks.map((task) => (
                <li key={task.id}>
                  <a class="entry" data-row href={toFragment({ view: 'task', taskId: task.id })}>
                    <span class={`status ${task.status}`}>{task.status}</span>
                    <bdi class="agent">{task.name}</bdi>
                    <span class="what">
                      <bdi class="faint">{task.id}</bdi>
                    </span>
                    <span class="number faint">
                      {plural(task.steps, 'step')} · {money(task.spentCostUsd)}
                    </span>
                    <time class="number faint">{age(task.createdAt)}</time>
                  </a>
                </li>
              ))}
            </ul>
          </>
        )}
      </Loaded>
      <CommandLine usual={everthread('tasks', 'list')} />
    </main>
  );
}

interface LogRow {
  readonly key: string;
  readonly event: { readonly type?: string };
}

export function TaskPage({ taskId }: { readonly taskId: string }) {
  const rows = useSignal<readonly LogRow[]>([]);
  const failure = useSignal<unknown>(null);
  const load = useLoad(() => ask('GET /v1/tasks/{taskId}', { taskId }), [taskId, rows.value.length]);
  const steps = useLoad(
    () => ask('GET /v1/tasks/{taskId}/steps', { taskId }, { query: { limit: 1000 } }),
    [taskId, load.value?.steps, load.value?.status],
  );
  const threadId = load.value?.threadId;
  const waits = useLoad(
    async () => (threadId === undefined ? { waits: [] } : ask('GET /v1/waits', {}, { query: { threadId } })),
    [threadId, rows.value.length],
  );
  useEffect(() => {
    document.title = `Task ${taskId}`;
    const closing = new AbortController();
    void followTask(taskId, rows, closing.signal).catch((error: unknown) => (failure.value = error));
    return () => closing.abort();
  }, [taskId]);
  return (
    <main class="thread">
      <section class="column" aria-label="Task">
        {failure.value !== null && <Refusal error={failure.value} />}
        <Loaded load={load}>
          {(task) => (
            <header class="heading">
              <h1>
                <span class={`status ${task.status}`}>{task.status}</span> <bdi>{task.name}</bdi>
              </h1>
              <p class="faint">
                <bdi>{task.id}</bdi> · {plural(task.steps, 'step')} · {money(task.spentCostUsd)}
              </p>
              <Folded label="Input" value={task.spec} />
              {task.verdict !== null && <Fields value={task.verdict} />}
              {task.endedAt === null && may('write') && (
                <ActButton
                  command={everthread('tasks', 'abort', task.id)}
                  tone="danger"
                  run={() =>
                    attempt(
                      () => act('POST /v1/tasks/{taskId}/abort', { taskId }, { body: {}, again: true }),
                      'Aborted.',
                    )
                  }
                >
                  Abort
                </ActButton>
              )}
            </header>
          )}
        </Loaded>
        <Loaded load={steps}>
          {(answer) => (
            <table class="steps-table">
              <thead>
                <tr>
                  <th>Step</th>
                  <th>Score</th>
                  <th>Act</th>
                  <th>Cost</th>
                </tr>
              </thead>
              <tbody>
                {answer.steps.slice(-20).map((step) => (
                  <tr key={step.step}>
                    <td class="number">{step.step}</td>
                    <td class="number">{step.score ?? '–'}</td>
                    <td>{step.act ?? '–'}</td>
                    <td class="number">{money(step.costUsd)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </Loaded>
        <Windowed
          items={rows.value}
          estimate={25}
          follow
          label="Log of the task"
          render={({ event }) => <Folded label={event.type ?? 'event'} value={event} />}
        />
        <section class="dock" aria-label="Actions">
          <Loaded load={waits}>
            {(answer) =>
              answer.waits.map((wait) => (
                <WaitCard key={wait.id} wait={wait} threadId={wait.threadId} answered={waits.again} />
              ))
            }
          </Loaded>
          <CommandLine usual={everthread('tasks', 'show', taskId)} />
        </section>
      </section>
    </main>
  );
}

async function followTask(
  taskId: string,
  rows: { value: readonly LogRow[] },
  closed: AbortSignal,
): Promise<void> {
  const path = `/v1/tasks/${encodeURIComponent(taskId)}/events`;
  for (;;) {
    const hidden = abortWhenHidden();
    try {
      const reading = { path, query: {}, after: rows.value.at(-1)?.key, follow: true };
      const signal = AbortSignal.any([closed, hidden.signal]);
      for await (const { cursor, event } of liveLines(connection(), { ...reading, signal }))
        rows.value = [...rows.value, { key: cursor, event: event as LogRow['event'] }];
    } finally {
      hidden.stop();
    }
    if (!hidden.signal.aborted || closed.aborted) return;
    await whenVisible(closed);
  }
}
