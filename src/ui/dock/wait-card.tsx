/** What a thread asks a person, and the buttons that answer it. The first answer counts; another one is told so. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { toFragment } from '../address.ts';
import { ActButton, attempt, notice } from '../parts/act-button.tsx';
import { Fields, Folded, LongText } from '../parts/values.tsx';
import { everthread } from '../session/commands.ts';
import { act, may } from '../session/session.ts';
import type { Wait } from '../story/reading.ts';
import { ago, parseOr, pretty, until } from '../text.ts';
import { type Answer, QuestionForm, VariablesForm } from './question-form.tsx';

interface CardProps {
  readonly wait: Wait;
  /** The thread that is shown: a wait of one of its subagents says so. */
  readonly threadId: string;
  /** Reads the waits again. */
  readonly answered: () => unknown;
}

const TITLES: Readonly<Record<Wait['kind'], string>> = {
  approval: 'Asks for approval',
  question: 'Asks a question',
  variables: 'Needs variables',
  paused: 'Is paused',
  reconcile: 'Its outcome is unknown',
};

const OUTCOMES: Readonly<Record<string, string>> = {
  already_answered: 'Somebody else has answered this differently, and first: their answer counts.',
  stale: 'What would be done has changed since it was shown: look again.',
  expired: 'This has expired: the answer does not count.',
  closed: 'This is no longer needed: the answer does not count.',
  unknown: 'This does not exist any more.',
};

export function WaitCard({ wait, threadId, answered }: CardProps) {
  const answer: Answer = async (given) => {
    const body = { ...given, ...(wait.fingerprint !== null && { fingerprint: wait.fingerprint }) };
    const verdict = await attempt(() =>
      act('POST /v1/waits/{waitId}/answer', { waitId: wait.id }, { body, again: true }),
    );
    const problem = verdict && OUTCOMES[verdict.outcome];
    if (problem) notice.value = { text: problem, failed: true };
    await answered();
  };
  return (
    <section class="wait" data-wait={wait.kind} aria-label={`${TITLES[wait.kind]}: ${wait.name}`}>
      <header>
        <strong>
          <bdi>{wait.name}</bdi> <span>{TITLES[wait.kind].toLowerCase()}</span>
        </strong>
        <span class="faint">
          {wait.threadId !== threadId && (
            <a href={toFragment({ view: 'thread', threadId: wait.threadId })}>a subagent</a>
          )}{' '}
          asked {ago(wait.openedAt)}
          {wait.expiresAt !== null && `, expires ${until(wait.expiresAt)}`}
        </span>
      </header>
      {wait.kind !== 'approval' && <LongText text={wait.summary} />}
      <Asked wait={wait} />
      {may('answer') ? (
        <Answers wait={wait} answer={answer} />
      ) : (
        <p class="faint">Your token may not answer.</p>
      )}
    </section>
  );
}

/** What is shown with the question. */
function Asked({ wait: { kind, data, summary } }: { readonly wait: Wait }) {
  const shown = (data ?? {}) as Readonly<Record<string, unknown>>;
  if (kind === 'approval')
    return (
      <>
        {typeof shown.problem === 'string' && <LongText text={shown.problem} />}
        {'arguments' in shown ? <Fields value={shown.arguments} /> : <LongText text={summary} />}
        <p class="faint">{typeof shown.reason === 'string' && <bdi>{shown.reason}</bdi>}</p>
        {Array.isArray(shown.artifacts) && shown.artifacts.length > 0 && (
          <Folded label="What it would change" value={shown.artifacts} />
        )}
      </>
    );
  if (kind === 'reconcile' && 'arguments' in shown) return <Fields value={shown.arguments} />;
  if (kind === 'variables' || data === null || 'schema' in shown) return null;
  return <Folded label="Details" value={data} />;
}

function Answers({ wait, answer }: { readonly wait: Wait; readonly answer: Answer }) {
  switch (wait.kind) {
    case 'approval':
      return <Approval wait={wait} answer={answer} />;
    case 'paused':
      return <Decision wait={wait} answer={answer} yes="Let it go on" no="End it" />;
    case 'reconcile':
      return <Reconciliation wait={wait} answer={answer} />;
    case 'question':
      return <QuestionForm wait={wait} answer={answer} />;
    case 'variables':
      return <VariablesForm wait={wait} answer={answer} />;
  }
}

const SCOPES = {
  once: 'this call only',
  execution: 'until this execution ends',
  thread: 'in this thread',
  always: 'in every thread of its user',
} as const;
type Scope = keyof typeof SCOPES;
const WIDTHS = Object.keys(SCOPES) as Scope[];
const COVERS = { arguments: 'the same call with the same arguments', tool: 'every call of it' } as const;

/** What a person may let pass, by how far the wait lets them. */
function choicesOf({ fingerprint, data }: Wait): readonly Choice[] {
  // Without a fingerprint there is no “same call” that a wider scope could let pass.
  if (fingerprint === null) return [ONCE];
  const { grant } = (data ?? {}) as { readonly grant?: Readonly<Record<keyof typeof COVERS, Scope>> };
  const wider = (covers: keyof typeof COVERS, widest: Scope = 'once') =>
    WIDTHS.slice(1, WIDTHS.indexOf(widest) + 1).map((scope) => ({
      given: { scope, ...(covers === 'tool' && { covers }) },
      words: `${COVERS[covers]}, ${SCOPES[scope]}`,
    }));
  return [ONCE, ...wider('arguments', grant ? grant.arguments : 'always'), ...wider('tool', grant?.tool)];
}

interface Choice {
  readonly given: { readonly scope?: Scope; readonly covers?: 'tool' };
  readonly words: string;
}

const ONCE: Choice = { given: {}, words: SCOPES.once };

function Approval({ wait, answer }: { readonly wait: Wait; readonly answer: Answer }) {
  const chosen = useSignal(0);
  const choices = choicesOf(wait);
  const { arguments: asked } = (wait.data ?? {}) as { readonly arguments?: unknown };
  /** What the person has made of the arguments; null as long as they are left as they are. */
  const typed = useSignal<string | null>(null);
  const changed = typed.value === null ? undefined : parseOr(typed.value);
  const give: Answer = async (given) => {
    if (!given.approved || typed.value === null) return answer(given);
    if (typeof changed === 'object' && changed !== null && !Array.isArray(changed))
      return answer({ approved: true, ...given, arguments: changed });
    notice.value = { text: 'The changed arguments are not a JSON object.', failed: true };
  };
  const scopes =
    choices.length === 1 || typed.value !== null ? null : (
      <label class="scope">
        Lets pass{' '}
        <select value={chosen} onChange={({ currentTarget }) => (chosen.value = Number(currentTarget.value))}>
          {choices.map(({ words }, index) => (
            <option key={words} value={index}>
              {words}
            </option>
          ))}
        </select>
      </label>
    );
  return (
    <>
      {typed.value !== null && (
        <textarea
          aria-label="Changed arguments"
          rows={Math.min(12, typed.value.split('\n').length + 1)}
          value={typed.value}
          onInput={({ currentTarget }) => (typed.value = currentTarget.value)}
        />
      )}
      <Decision
        wait={wait}
        answer={give}
        yes={typed.value === null ? 'Approve' : 'Approve with changes'}
        no="Deny"
        reach={typed.value === null ? choices[chosen.value]?.given : undefined}
        changed={typed.value !== null}
      >
        {scopes}
        {asked !== undefined && wait.toolCallId !== null && (
          <button
            type="button"
            name="change"
            onClick={() => (typed.value = typed.value === null ? pretty(asked) : null)}
          >
            {typed.value === null ? 'Change arguments' : 'Leave them as they are'}
          </button>
        )}
      </Decision>
    </>
  );
}

interface DecisionProps {
  readonly wait: Wait;
  readonly answer: Answer;
  readonly yes: string;
  readonly no: string;
  readonly reach?: Choice['given'] | undefined;
  readonly changed?: boolean;
  readonly children?: ComponentChildren;
}

function Decision({ wait, answer, yes, no, reach = {}, changed = false, children }: DecisionProps) {
  const reason = useSignal('');
  const words = reason.value.trim();
  const given = (approved: boolean) => ({
    approved,
    ...(words !== '' && { reason: words }),
    ...(approved && reach),
  });
  const shown = (approved: boolean) =>
    everthread(
      'waits',
      'answer',
      wait.id,
      approved ? '--approve' : '--deny',
      ...(approved ? Object.entries(reach).flatMap(([name, value]) => [`--${name}`, value]) : []),
      ...(approved && changed ? ['--arguments-file', 'changed.json'] : []),
      ...(words === '' ? [] : ['--reason', words]),
    );
  return (
    <div class="row">
      {children}
      <input
        aria-label="Reason"
        placeholder="Reason (optional)"
        value={reason}
        onInput={({ currentTarget }) => (reason.value = currentTarget.value)}
      />
      <ActButton command={shown(true)} tone="main" name="approve" run={() => answer(given(true))}>
        {yes}
      </ActButton>
      <ActButton command={shown(false)} tone="danger" name="deny" run={() => answer(given(false))}>
        {no}
      </ActButton>
    </div>
  );
}

function Reconciliation({ wait, answer }: { readonly wait: Wait; readonly answer: Answer }) {
  const note = useSignal('');
  const value = (completed: boolean) => ({
    completed,
    ...(note.value.trim() !== '' && { note: note.value.trim() }),
  });
  const shown = (completed: boolean) =>
    everthread('waits', 'answer', wait.id, '--value', JSON.stringify(value(completed)));
  return (
    <div class="row">
      <input
        aria-label="How the outcome is known"
        placeholder="How do you know? (optional)"
        value={note}
        onInput={({ currentTarget }) => (note.value = currentTarget.value)}
      />
      <ActButton command={shown(true)} tone="main" name="done" run={() => answer({ value: value(true) })}>
        It was done
      </ActButton>
      <ActButton command={shown(false)} name="not-done" run={() => answer({ value: value(false) })}>
        It was not
      </ActButton>
    </div>
  );
}
