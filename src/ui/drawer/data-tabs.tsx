/** What belongs to a thread beside its story: budget, family, files, values, effects, and what people have answered. */
import { useSignal } from '@preact/signals';
import { toFragment } from '../address.ts';
import { ActButton, attempt, CommandLine } from '../parts/act-button.tsx';
import { Attachments } from '../parts/attachments.tsx';
import { Loaded, useLoad } from '../parts/loaded.tsx';
import { Fields, Folded } from '../parts/values.tsx';
import { curl, everthread } from '../session/commands.ts';
import { API_URL, act, ask, may, upload } from '../session/session.ts';
import type { Wait } from '../story/reading.ts';
import { ago, clock, count, money, until } from '../text.ts';
import type { TabProps } from './tab.ts';

const NAMES: Readonly<Record<string, string>> = {
  maxSteps: 'steps',
  maxLlmCalls: 'model calls',
  maxToolCalls: 'tool calls',
  maxInputTokens: 'input tokens',
  maxOutputTokens: 'output tokens',
  maxCost: 'cost',
  maxRuntimeSeconds: 'seconds of work',
  familyCalls: 'model calls of the family',
};

const amount = (limit: string, n: number) =>
  limit === 'maxCost' ? money(n) : count(Math.round(n * 10) / 10);

export function Budget({ reading }: TabProps) {
  const { threadId } = reading;
  const load = useLoad(
    () => ask('GET /v1/threads/{threadId}/budget', { threadId }),
    [threadId, reading.thread.value?.updatedAt],
  );
  return (
    <Loaded load={load}>
      {({ lines, members }) => {
        return (
          <>
            {lines.length === 0 && <p class="faint">Nothing limits this thread.</p>}
            {lines.map((line) => (
              <label key={line.threadId + line.limit} class="budget">
                <span>
                  {NAMES[line.limit] ?? line.limit}
                  {line.threadId !== threadId && <span class="faint"> of an ancestor</span>}
                </span>
                <span class="number">
                  {amount(line.limit, line.used)} of {amount(line.limit, line.max)}
                  {line.reserved > 0 && ` (${amount(line.limit, line.reserved)} reserved)`}
                </span>
                <meter min={0} max={line.max} high={line.warnAt} value={line.used + line.reserved} />
              </label>
            ))}
            {members.length > 0 && (
              <table>
                <thead>
                  <tr>
                    <th>Member of the family</th>
                    <th>Steps</th>
                    <th>Tokens</th>
                    <th>Cost</th>
                  </tr>
                </thead>
                <tbody>
                  {members.map((member) => (
                    <tr key={member.threadId}>
                      <td>
                        <a href={toFragment({ view: 'thread', threadId: member.threadId })}>
                          <bdi>{member.agent}</bdi>
                        </a>
                      </td>
                      <td class="number">{member.steps}</td>
                      <td class="number">
                        {count(member.inputTokens)} in, {count(member.outputTokens)} out
                      </td>
                      <td class="number">{money(member.costUsd)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            )}
            <CommandLine usual={everthread('threads', 'show', threadId)} />
          </>
        );
      }}
    </Loaded>
  );
}

export function Family({ reading }: TabProps) {
  const rootId = reading.thread.value?.rootId ?? reading.threadId;
  const load = useLoad(
    () => ask('GET /v1/threads/{threadId}/family', { threadId: rootId }),
    [rootId, reading.thread.value?.updatedAt],
  );
  return (
    <Loaded load={load}>
      {({ family }) => (
        <>
          <ul class="family">
            {family.map(({ thread, child, depth }) => (
              <li key={thread.id} style={{ marginInlineStart: `${depth * 16}px` }}>
                <span class={`status ${thread.status}`}>{thread.status}</span>{' '}
                <a
                  href={toFragment({ view: 'thread', threadId: thread.id, tab: 'family' })}
                  aria-current={thread.id === reading.threadId ? 'page' : undefined}
                >
                  <bdi>{child?.name ?? thread.name ?? thread.agent}</bdi>
                </a>{' '}
                <bdi class="faint">{child?.status}</bdi>
              </li>
            ))}
          </ul>
          <CommandLine usual={everthread('threads', 'tree', rootId)} />
        </>
      )}
    </Loaded>
  );
}

export function Files({ reading: { threadId, log, changes } }: TabProps) {
  const path = useSignal('/');
  void changes.value;
  const changed = log.rows.findLast(({ type }) => type.startsWith('file.'))?.seq;
  const load = useLoad(
    () => ask('GET /v1/threads/{threadId}/files', { threadId }, { query: { path: path.value } }),
    [threadId, path.value, changed],
  );
  const send = async (files: FileList | null) => {
    for (const file of files ?? [])
      await attempt(() => upload(threadId, `${path.value.replace(/\/$/, '')}/${file.name}`, file), 'Stored.');
    load.again();
  };
  return (
    <>
      <p>
        <bdi>{path.value}</bdi>{' '}
        {path.value !== '/' && (
          <button
            type="button"
            class="quiet"
            onClick={() => (path.value = path.value.replace(/\/[^/]*$/, '') || '/')}
          >
            Up
          </button>
        )}
      </p>
      <Loaded load={load}>
        {({ entries }) => (
          <>
            {entries.length === 0 && <p class="faint">No files.</p>}
            <ul class="files">
              {entries
                .filter((each) => each.isDirectory)
                .map((each) => (
                  <li key={each.path}>
                    <button type="button" class="quiet" onClick={() => (path.value = each.path)}>
                      <bdi>{each.name}/</bdi>
                    </button>
                  </li>
                ))}
            </ul>
            <Attachments threadId={threadId} files={entries.filter((each) => !each.isDirectory)} />
          </>
        )}
      </Loaded>
      {may('write') && (
        <label class="button plain">
          Add files
          <input type="file" multiple onChange={({ currentTarget }) => void send(currentTarget.files)} />
        </label>
      )}
      <CommandLine usual={everthread('threads', 'files', threadId)} />
    </>
  );
}

export function Values({ reading: { threadId, log, changes } }: TabProps) {
  void changes.value;
  const changed = log.rows.findLast(({ type }) => type === 'value.changed')?.seq;
  const load = useLoad(
    () => ask('GET /v1/threads/{threadId}/values', { threadId }, { query: { limit: 1000 } }),
    [threadId, changed],
  );
  const variables = useLoad(() => ask('GET /v1/threads/{threadId}/env', { threadId }), [threadId]);
  const rows = variables.value?.variables ?? [];
  return (
    <>
      <Loaded load={load}>
        {({ values }) => (
          <>
            {values.length === 0 && <p class="faint">No values.</p>}
            {values.map(({ key, value }) => (
              <Folded key={key} label={key} value={value} />
            ))}
          </>
        )}
      </Loaded>
      {rows.length > 0 && (
        <>
          <h3>Variables</h3>
          <table class="fields">
            <tbody>
              {rows.map(({ name, type, source }) => (
                <tr key={name}>
                  <th scope="row">
                    <bdi>{name}</bdi>
                  </th>
                  <td>
                    {type} <span class="faint">of the {source}</span>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
      <CommandLine usual={everthread('threads', 'values', threadId)} />
    </>
  );
}

const ANSWERED = 100;

/** Who has approved, denied or answered what, the newest first. */
export function GivenAnswers({ reading: { threadId, waits } }: TabProps) {
  const query = { threadId, state: 'answered', order: 'desc', limit: ANSWERED };
  const load = useLoad(() => ask('GET /v1/waits', {}, { query }), [threadId, waits.value]);
  return (
    <>
      <Grants threadId={threadId} answered={waits.value} />
      <Loaded load={load}>
        {({ waits: answered }) => (
          <>
            {answered.length === 0 && <p class="faint">Nobody has been asked, or nobody has answered.</p>}
            {answered.map(({ id, kind, name, summary, data, answer, endedAt }) => (
              <section key={id} class="answered" data-answered={kind}>
                <strong>
                  <bdi>{name}</bdi> <span>{answerWords(answer)}</span>
                </strong>{' '}
                <span class="faint">
                  by <bdi>{answer?.by ?? 'a person'}</bdi>
                  {endedAt !== null && `, ${clock(endedAt)}`}
                </span>
                {answer && 'approved' in answer && answer.reason && <p>{answer.reason}</p>}
                {isAsked(data) ? <Fields value={data.arguments} /> : <p class="faint">{summary}</p>}
                {answer && 'value' in answer && <Folded label="Answer" value={answer.value} />}
              </section>
            ))}
          </>
        )}
      </Loaded>
      <CommandLine usual={everthread('waits', 'list', threadId, '--state', 'answered')} />
    </>
  );
}

interface GrantsProps {
  readonly threadId: string;
  /** Anything that changes with each answer. */
  readonly answered: unknown;
}

/** What was approved beyond one call, and counts in this thread. */
function Grants({ threadId, answered }: GrantsProps) {
  const load = useLoad(() => ask('GET /v1/grants', {}, { query: { threadId } }), [threadId, answered]);
  const revoke = async (grantId: string) => {
    await attempt(() => act('POST /v1/grants/{grantId}/revoke', { grantId }, { body: {}, again: true }));
    load.again();
  };
  return (
    <Loaded load={load}>
      {({ grants }) =>
        grants.map(({ id, scope, covers, tool, capabilities, grantedBy, expiresAt }) => (
          <section key={id} class="answered" data-grant={covers}>
            <strong>
              <bdi>{tool}</bdi> <span>is approved {SCOPE_WORDS[scope]}</span>
            </strong>{' '}
            <span class="faint">
              by <bdi>{grantedBy ?? 'a person'}</bdi>
              {expiresAt !== null && `, until ${clock(expiresAt)}`}
            </span>
            <p class="faint">
              {covers === 'tool'
                ? `every call that needs no more than ${capabilities.join(', ') || 'nothing'}`
                : 'calls with the same arguments'}
            </p>
            {may('answer') && (
              <ActButton command={everthread('grants', 'revoke', id)} name="revoke" run={() => revoke(id)}>
                Revoke
              </ActButton>
            )}
          </section>
        ))
      }
    </Loaded>
  );
}

const SCOPE_WORDS = {
  execution: 'until its execution ends',
  thread: 'in this thread',
  always: 'in all threads of this user',
} as const;

const isAsked = (data: unknown): data is { readonly arguments: unknown } =>
  typeof data === 'object' && data !== null && 'arguments' in data;

function answerWords(answer: Wait['answer']): string {
  if (!answer || !('approved' in answer)) return 'answered';
  const scope = answer.scope && answer.scope !== 'once' ? ` (${answer.scope})` : '';
  return `${answer.approved ? 'approved' : 'denied'}${scope}`;
}

export function Effects({ reading: { threadId, log, changes } }: TabProps) {
  void changes.value;
  const changed = log.rows.findLast(({ type }) => type.startsWith('effect.'))?.seq;
  const load = useLoad(() => ask('GET /v1/threads/{threadId}/effects', { threadId }), [threadId, changed]);
  const change = async (route: Parameters<typeof act>[0], effectId: string) => {
    await attempt(() => act(route, { threadId, effectId } as never));
    load.again();
  };
  return (
    <>
      <Loaded load={load}>
        {({ effects }) => (
          <>
            {effects.length === 0 && <p class="faint">No effects are scheduled.</p>}
            {effects.map(({ id, name, args, scheduledAt, createdAt }) => (
              <section key={id} class="effect">
                <strong>
                  <bdi>{name}</bdi>
                </strong>{' '}
                <span class="faint">
                  due {until(scheduledAt)}, made {ago(createdAt)}
                </span>
                <Folded label="Arguments" value={args} />
                {may('write') && (
                  <div class="row">
                    <ActButton
                      command={curl(`${API_URL}/v1/threads/${threadId}/effects/${id}/run`, 'POST')}
                      run={() => change('POST /v1/threads/{threadId}/effects/{effectId}/run', id)}
                    >
                      Run now
                    </ActButton>
                    <ActButton
                      command={everthread('threads', 'effects', 'cancel', threadId, id)}
                      run={() => change('DELETE /v1/threads/{threadId}/effects/{effectId}', id)}
                    >
                      Cancel
                    </ActButton>
                  </div>
                )}
              </section>
            ))}
          </>
        )}
      </Loaded>
      <CommandLine usual={everthread('threads', 'effects', threadId)} />
    </>
  );
}
