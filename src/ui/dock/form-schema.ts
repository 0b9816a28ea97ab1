/** A question's schema (JSON schema of a flat object) as the fields of a form, and a filled form as an answer. */
export interface FormField {
  readonly name: string;
  readonly label: string;
  readonly hint: string;
  readonly kind: 'text' | 'number' | 'boolean' | 'choice' | 'json';
  readonly required: boolean;
  readonly choices: readonly string[];
  readonly initial: string;
}

type Schema = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Null if the question has no schema of an object: its answer is any text. */
export function readFields(data: unknown): readonly FormField[] | null {
  const schema = isObject(data) ? data.schema : undefined;
  if (!isObject(schema) || !isObject(schema.properties)) return null;
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(schema.properties).map(([name, given]) => {
    const property = isObject(given) ? given : {};
    const { title, description, default: initial, enum: choices } = property;
    return {
      name,
      label: typeof title === 'string' ? title : name,
      hint: typeof description === 'string' ? description : '',
      kind: kindOf(property),
      required: required.includes(name),
      choices: Array.isArray(choices) ? choices.map(String) : [],
      initial: initial === undefined ? '' : typeof initial === 'string' ? initial : JSON.stringify(initial),
    };
  });
}

function kindOf({ type, enum: choices }: Schema): FormField['kind'] {
  if (Array.isArray(choices)) return 'choice';
  if (type === 'string') return 'text';
  if (type === 'number' || type === 'integer') return 'number';
  return type === 'boolean' ? 'boolean' : 'json';
}

export type Filled =
  | { readonly ok: true; readonly value: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly problem: string };

/** Fields that were left empty are absent from the answer. */
export function readForm(fields: readonly FormField[], typed: Readonly<Record<string, string>>): Filled {
  const value: Record<string, unknown> = {};
  for (const { name, label, kind, required } of fields) {
    const text = typed[name] ?? '';
    if (text === '') {
      if (required && kind !== 'boolean') return { ok: false, problem: `“${label}” is needed.` };
      if (kind === 'boolean') value[name] = false;
      continue;
    }
    if (kind === 'boolean') value[name] = text === 'true';
    else if (kind === 'number') {
      if (!Number.isFinite(Number(text))) return { ok: false, problem: `“${label}” must be a number.` };
      value[name] = Number(text);
    } else if (kind === 'json') {
      try {
        value[name] = JSON.parse(text);
      } catch {
        return { ok: false, problem: `“${label}” must be JSON, such as ["a", "b"].` };
      }
    } else value[name] = text;
  }
  return { ok: true, value };
}
