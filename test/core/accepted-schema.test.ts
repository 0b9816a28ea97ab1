/** Any schema of a tool becomes one that providers accept: what they refuse is a table, what it becomes another. */
import { describe, expect, it } from '@jest/globals';
import { toAcceptedTool } from '../../src/activities/model/request.ts';
import { toAcceptedSchema } from '../../src/core/value/accepted-schema.ts';
import type { JsonSchema } from '../../src/core/value/json-schema.ts';
import { refuseSchema } from '../support/tool-schema-rules.ts';

const text = { type: 'string' };
const file = {
  type: 'object',
  properties: { kind: { const: 'file' }, path: text },
  required: ['kind', 'path'],
};
const page = {
  type: 'object',
  properties: { kind: { const: 'page' }, url: text },
  required: ['kind', 'url'],
};
const merged = { kind: { enum: ['file', 'page'] }, path: text, url: text };

/** As text, since an object that has `then` is taken for a promise. */
const CONDITIONAL = `{ "type": "object", "properties": { "a": { "type": "string" } }, "if": { "required": ["a"] },
  "then": { "properties": { "b": { "type": "string" } }, "required": ["b"] }, "not": { "required": ["c"] } }`;

/** What it is, what is given, and what is offered; with `more` where the original says more. */
const TABLE: readonly (readonly [what: string, given: unknown, offered: JsonSchema, more?: 'more'])[] = [
  ['an object without properties', { type: 'object' }, { type: 'object', properties: {} }],
  ['an empty schema', {}, { type: 'object', properties: {} }],
  ['no schema', undefined, { type: 'object', properties: {} }],
  ['a schema that is null', null, { type: 'object', properties: {} }],
  ['properties that are null', { type: 'object', properties: null }, { type: 'object', properties: {} }],
  [
    'an object or null',
    { type: ['object', 'null'], properties: { a: text } },
    { type: 'object', properties: { a: text } },
  ],
  [
    'a plain object',
    { type: 'object', title: 'T', properties: { a: text }, required: ['a'], additionalProperties: false },
    { title: 'T', type: 'object', properties: { a: text }, required: ['a'], additionalProperties: false },
  ],
  [
    'the name of the dialect',
    {
      $schema: 'http://json-schema.org/draft-07/schema#',
      $id: 'x',
      type: 'object',
      properties: { $id: text },
    },
    { type: 'object', properties: { $id: text } },
  ],
  ['anyOf', { anyOf: [file, page] }, { type: 'object', properties: merged, required: ['kind'] }, 'more'],
  [
    'oneOf',
    { type: 'object', oneOf: [file, page] },
    { type: 'object', properties: merged, required: ['kind'] },
    'more',
  ],
  [
    'anyOf with one object',
    { anyOf: [{ type: 'object', properties: { a: text }, required: ['a'] }, { type: 'null' }] },
    { type: 'object', properties: { a: text }, required: ['a'] },
  ],
  [
    'fields of which one has to be given',
    {
      type: 'object',
      properties: { a: text, b: text, c: text },
      required: ['c'],
      anyOf: [{ required: ['a'] }, { required: ['b'] }],
    },
    { type: 'object', properties: { a: text, b: text, c: text }, required: ['c'] },
    'more',
  ],
  [
    'allOf',
    {
      allOf: [
        { type: 'object', properties: { a: text }, required: ['a'] },
        { properties: { b: text }, required: ['b'] },
      ],
    },
    { type: 'object', properties: { a: text, b: text }, required: ['a', 'b'] },
  ],
  [
    'a field that branches type differently',
    {
      anyOf: [
        { properties: { a: text } },
        { properties: { a: { type: 'number' } } },
        { properties: { a: text } },
      ],
    },
    { type: 'object', properties: { a: { anyOf: [text, { type: 'number' }] } } },
    'more',
  ],
  [
    'closed branches',
    {
      oneOf: [
        { ...file, additionalProperties: false },
        { ...page, additionalProperties: false },
      ],
    },
    { type: 'object', properties: merged, required: ['kind'], additionalProperties: false },
    'more',
  ],
  ['a condition', JSON.parse(CONDITIONAL), { type: 'object', properties: { a: text, b: text } }, 'more'],
  [
    'a reference at the top',
    {
      $ref: '#/definitions/Ask',
      definitions: { Ask: { type: 'object', properties: { a: { $ref: '#/definitions/A' } } }, A: text },
    },
    { type: 'object', properties: { a: { $ref: '#/$defs/A' } }, $defs: { A: text } },
  ],
  [
    'branches that are references, and share a base',
    {
      oneOf: [{ $ref: '#/$defs/One' }, { $ref: '#/$defs/Two' }],
      $defs: {
        Base: { type: 'object', properties: { id: text }, required: ['id'] },
        One: { allOf: [{ $ref: '#/$defs/Base' }, { properties: { one: text } }] },
        Two: { allOf: [{ $ref: '#/$defs/Base' }, { properties: { two: text } }] },
      },
    },
    { type: 'object', properties: { id: text, one: text, two: text }, required: ['id'] },
    'more',
  ],
  [
    'a reference to another property',
    {
      type: 'object',
      properties: { from: { type: 'object', properties: { x: text } }, to: { $ref: '#/properties/from' } },
    },
    {
      type: 'object',
      properties: { from: { type: 'object', properties: { x: text } }, to: { $ref: '#/$defs/from' } },
      $defs: { from: { type: 'object', properties: { x: text } } },
    },
  ],
  [
    'a definition that refers to itself',
    {
      type: 'object',
      properties: { root: { $ref: '#/$defs/Node' } },
      $defs: { Node: { type: 'object', properties: { next: { $ref: '#/$defs/Node' } } }, Unused: text },
    },
    {
      type: 'object',
      properties: { root: { $ref: '#/$defs/Node' } },
      $defs: { Node: { type: 'object', properties: { next: { $ref: '#/$defs/Node' } } } },
    },
  ],
  [
    'a reference to itself',
    { $ref: '#/$defs/A', $defs: { A: { $ref: '#/$defs/A' } } },
    { type: 'object', properties: {} },
  ],
  [
    'references to nothing',
    { type: 'object', properties: { a: { $ref: '#/$defs/No' }, b: { $ref: 'https://example.com/b' } } },
    { type: 'object', properties: { a: {}, b: {} } },
  ],
  [
    'arrays without items',
    { type: 'object', properties: { a: { type: 'array' }, b: { type: ['array', 'null'] } } },
    {
      type: 'object',
      properties: { a: { type: 'array', items: {} }, b: { type: ['array', 'null'], items: {} } },
    },
  ],
  [
    'a list of items',
    {
      type: 'object',
      properties: {
        a: { type: 'array', items: [text, { type: 'number' }] },
        b: { type: 'array', items: [text] },
      },
    },
    {
      type: 'object',
      properties: {
        a: { type: 'array', items: { anyOf: [text, { type: 'number' }] } },
        b: { type: 'array', items: text },
      },
    },
  ],
  [
    'limits of the fourth draft',
    {
      type: 'object',
      properties: {
        a: { type: 'number', minimum: 0, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false },
      },
    },
    { type: 'object', properties: { a: { type: 'number', maximum: 9, exclusiveMinimum: 0 } } },
  ],
  [
    'a value that is not a schema',
    {
      type: 'object',
      properties: {
        a: 'string',
        b: { type: 'any' },
        c: { type: ['string', 'text'] },
        d: { type: 'object', required: true },
      },
      required: 'a',
    },
    { type: 'object', properties: { a: {}, b: {}, c: { type: 'string' }, d: { type: 'object' } } },
  ],
  [
    'a required field that is not described',
    { type: 'object', required: ['a', 1] },
    { type: 'object', properties: { a: {} }, required: ['a'] },
  ],
];

describe('a tool schema accepted by providers', () => {
  it.each(TABLE)('is derived from %s', (_, given, offered, ...[more]) => {
    const accepted = toAcceptedSchema(given);
    expect(accepted).toEqual({ schema: offered, saysLess: more === 'more' });
    expect(refuseSchema(accepted?.schema)).toBeUndefined();
    // What providers accept stays as it is.
    expect(toAcceptedSchema(offered)?.schema).toEqual(offered);
  });

  it.each([
    ['a text', { type: 'string' }],
    ['a list', { type: 'array', items: text }],
    ['only alternatives that are none', { anyOf: [{ type: 'string' }, { type: 'null' }] }],
    ['a reference to a text', { $ref: '#/$defs/A', $defs: { A: text } }],
    ['parts one of which is a text', { allOf: [{ properties: {} }, { type: 'string' }] }],
  ])('is not derived from %s: arguments are an object', (_, given) => {
    expect(toAcceptedSchema(given)).toBeUndefined();
  });

  it('is never larger than the original, however often that refers to itself', () => {
    const levels = 400;
    const $defs = Object.fromEntries(
      Array.from({ length: levels }, (_, n) => {
        const next = { $ref: `#/$defs/L${n + 1}` };
        const branch = (x: string) => ({ allOf: [next, { properties: { p: { title: `${x}${n}` } } }] });
        return [`L${n}`, { anyOf: [branch('x'), branch('y')] }];
      }),
    );
    const given = { $ref: '#/$defs/L0', $defs: { ...$defs, [`L${levels}`]: { properties: { p: text } } } };
    const schema = toAcceptedSchema(given)?.schema;
    expect(JSON.stringify(schema).length).toBeLessThan(JSON.stringify(given).length);
  });
});

describe('a tool', () => {
  const toolOf = (parameters: JsonSchema) =>
    toAcceptedTool({ type: 'function', function: { name: 'open', description: 'Opens.', parameters } });

  it('has its original schema in its description if its parameters cannot express all of it', () => {
    expect(toolOf({ type: 'object' })?.function.description).toBe('Opens.');
    const { description = '' } = toolOf({ oneOf: [file, page], title: 'words' })?.function ?? {};
    const [words, original = ''] = description.split('\n\nIts arguments must match this JSON schema: ');
    expect(words).toBe('Opens.');
    expect(JSON.parse(original)).toMatchObject({ oneOf: [{ properties: { kind: { const: 'file' } } }, {}] });
    const many = Array.from({ length: 500 }, (_, n) => ({ properties: { [`field_${n}`]: text } }));
    expect(toolOf({ anyOf: many })?.function.description.length).toBeLessThan(2200);
  });

  it('is dropped if its arguments are not an object', () => {
    expect(toolOf({ type: 'string' })).toBeUndefined();
  });
});
