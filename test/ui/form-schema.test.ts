/** Forms of questions: fields from a JSON schema, and typed texts as a value. */
import { describe, expect, it } from '@jest/globals';
import { readFields, readForm } from '../../src/ui/dock/form-schema.ts';

const data = {
  schema: {
    type: 'object',
    required: ['name', 'size'],
    properties: {
      name: { type: 'string', title: 'Full name', description: 'as on the card' },
      size: { type: 'string', enum: ['S', 'M'] },
      seats: { type: 'integer', default: 2 },
      smoking: { type: 'boolean' },
      dates: { type: 'array', items: { type: 'string' } },
    },
  },
};

describe('the form of a question', () => {
  const fields = readFields(data) ?? [];

  it('has a field for each property, with its title, its choices and its default', () => {
    expect(fields.map(({ label, kind, required, initial }) => [label, kind, required, initial])).toEqual([
      ['Full name', 'text', true, ''],
      ['size', 'choice', true, ''],
      ['seats', 'number', false, '2'],
      ['smoking', 'boolean', false, ''],
      ['dates', 'json', false, ''],
    ]);
    expect(fields[1]?.choices).toEqual(['S', 'M']);
  });

  it.each([null, undefined, 'text', { schema: 7 }, { schema: { type: 'string' } }])(
    'is a single text for %j',
    (given) => {
      expect(readFields(given)).toBeNull();
    },
  );

  it('answers with values of the types that the schema names', () => {
    const typed = { name: 'Ada', size: 'S', seats: '3', smoking: 'true', dates: '["now"]' };
    expect(readForm(fields, typed)).toEqual({
      ok: true,
      value: { name: 'Ada', size: 'S', seats: 3, smoking: true, dates: ['now'] },
    });
    expect(readForm(fields, { name: 'Ada', size: 'S' })).toEqual({
      ok: true,
      value: { name: 'Ada', size: 'S', smoking: false },
    });
  });

  it.each([
    [{ size: 'S' }, 'Full name'],
    [{ name: 'Ada', size: 'S', seats: 'two' }, 'seats'],
    [{ name: 'Ada', size: 'S', dates: '[' }, 'dates'],
  ])('names the field that is missing or wrong in %j', (typed, field) => {
    const filled = readForm(fields, typed);
    expect(!filled.ok && filled.problem).toContain(`“${field}”`);
  });
});
