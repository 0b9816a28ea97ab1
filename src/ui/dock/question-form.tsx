/** Answers that are values: a form made of the question's schema, and the variables that a subagent lacks. */
import { useSignal } from '@preact/signals';
import { ActButton, notice } from '../parts/act-button.tsx';
import { everthread } from '../session/commands.ts';
import type { Wait } from '../story/reading.ts';
import { type FormField, readFields, readForm } from './form-schema.ts';

/** Gives an answer, and shows what became of it. */
export type Answer = (body: Readonly<Record<string, unknown>>) => Promise<void>;

interface FormProps {
  readonly wait: Wait;
  readonly answer: Answer;
}

const ANSWER: FormField = {
  name: 'answer',
  label: 'Answer',
  hint: '',
  kind: 'text',
  required: true,
  choices: [],
  initial: '',
};

export function QuestionForm({ wait, answer }: FormProps) {
  const fields = readFields(wait.data);
  const shown = fields ?? [ANSWER];
  const typed = useSignal<Readonly<Record<string, string>>>(
    Object.fromEntries(shown.map(({ name, initial }) => [name, initial])),
  );
  const filled = readForm(shown, typed.value);
  // A question without a schema is answered by a text.
  const value = !filled.ok ? undefined : fields ? filled.value : filled.value.answer;
  const send = () => {
    if (filled.ok) return answer({ value });
    notice.value = { text: filled.problem, failed: true };
    return undefined;
  };
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      {shown.map((field) => (
        <Field
          key={field.name}
          field={field}
          value={typed.value[field.name] ?? ''}
          onChange={(text) => (typed.value = { ...typed.value, [field.name]: text })}
        />
      ))}
      <div class="row">
        <ActButton
          command={everthread('waits', 'answer', wait.id, '--value', JSON.stringify(value ?? 'VALUE'))}
          tone="main"
          name="approve"
          run={send}
        >
          Answer
        </ActButton>
        <Refuse wait={wait} answer={answer} />
      </div>
    </form>
  );
}

function Refuse({ wait, answer }: FormProps) {
  return (
    <ActButton
      command={everthread('waits', 'answer', wait.id, '--deny')}
      name="deny"
      run={() => answer({ approved: false })}
    >
      Do not answer
    </ActButton>
  );
}

interface FieldProps {
  readonly field: FormField;
  readonly value: string;
  readonly onChange: (text: string) => void;
}

function Field({ field, value, onChange }: FieldProps) {
  const { name, label, hint, kind, required, choices } = field;
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: it is the one that its kind needs
    <label>
      <span>
        <bdi>{label}</bdi>
        {required && kind !== 'boolean' && ' *'} <bdi class="faint">{hint}</bdi>
      </span>
      {kind === 'choice' ? (
        <select name={name} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
          <option value="">Choose…</option>
          {choices.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      ) : kind === 'boolean' ? (
        <input
          type="checkbox"
          name={name}
          checked={value === 'true'}
          onChange={({ currentTarget }) => onChange(String(currentTarget.checked))}
        />
      ) : (
        <input
          name={name}
          dir="auto"
          inputMode={kind === 'number' ? 'decimal' : undefined}
          value={value}
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
        />
      )}
    </label>
  );
}

/** Values are never shown: most are secrets, and so the command reads them from standard input. */
export function VariablesForm({ wait, answer }: FormProps) {
  const { missing = [], types = {} } = (wait.data ?? {}) as {
    readonly missing?: readonly string[];
    readonly types?: Readonly<Record<string, string>>;
  };
  const typed = useSignal<Readonly<Record<string, string>>>({});
  const lacking = missing.find((name) => !typed.value[name]);
  return (
    <form class="form" onSubmit={(event) => event.preventDefault()}>
      {missing.map((name) => (
        <label key={name}>
          <bdi>{name}</bdi>
          <input
            type={(types[name] === 'text' ? 'text' : 'password') as 'password'}
            autocomplete="off"
            value={typed.value[name] ?? ''}
            onInput={({ currentTarget }) => (typed.value = { ...typed.value, [name]: currentTarget.value })}
          />
        </label>
      ))}
      <div class="row">
        <ActButton
          command={`${everthread('waits', 'answer', wait.id)} --value-stdin < values.json`}
          tone="main"
          name="approve"
          disabled={lacking !== undefined}
          run={() => answer({ value: typed.value })}
        >
          Provide
        </ActButton>
        <Refuse wait={wait} answer={answer} />
      </div>
    </form>
  );
}
