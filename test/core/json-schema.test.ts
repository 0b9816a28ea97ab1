/** JSON schemas that differ only in descriptions are distinguished from those that accept other values. */
import { describe, expect, it } from '@jest/globals';
import { canonicalJson } from '../../src/core/value/canonical-json.ts';
import { type JsonSchema, undescribed } from '../../src/core/value/json-schema.ts';

const SCHEMA = {
  type: 'object',
  title: 'Refund',
  description: 'of an order',
  properties: {
    description: { type: 'string', description: 'its reason', examples: ['late'] },
    kinds: { type: 'array', items: { enum: ['a', 'b'], title: 'Kind' } },
    to: { anyOf: [{ $ref: '#/$defs/person', description: 'who' }, { type: 'null' }] },
  },
  required: ['description', 'kinds'],
  $defs: { person: { type: 'object', properties: { title: { type: 'string' } }, $comment: 'x' } },
  default: { description: 'none' },
} as const;

const same = (one: JsonSchema, other: JsonSchema) =>
  canonicalJson(undescribed(one)) === canonicalJson(undescribed(other));

describe('a schema without descriptions', () => {
  it('keeps properties named like keywords, and values', () => {
    expect(undescribed(SCHEMA)).toMatchObject({
      properties: { description: { type: 'string' }, to: { anyOf: [{ $ref: '#/$defs/person' }, {}] } },
      $defs: { person: { properties: { title: { type: 'string' } } } },
      default: { description: 'none' },
    });
    expect(JSON.stringify(undescribed(SCHEMA))).not.toMatch(
      /Refund|of an order|its reason|late|Kind|who|"x"/,
    );
  });

  it.each<[string, JsonSchema]>([
    ['its title', { ...SCHEMA, title: 'Another' }],
    [
      'a description below',
      {
        ...SCHEMA,
        properties: { ...SCHEMA.properties, kinds: { type: 'array', items: { enum: ['b', 'a'] } } },
      },
    ],
    ['the order of what it requires', { ...SCHEMA, required: ['kinds', 'description'] }],
    [
      'the order of its properties',
      { ...SCHEMA, properties: Object.fromEntries(Object.entries(SCHEMA.properties).reverse()) },
    ],
  ])('is equal if %s differs', (_, other) => {
    expect(same(SCHEMA, other)).toBe(true);
  });

  it.each<[string, JsonSchema]>([
    ['what it requires', { ...SCHEMA, required: ['kinds'] }],
    ['a property', { ...SCHEMA, properties: { ...SCHEMA.properties, more: {} } }],
    [
      'a value of an enum below',
      {
        ...SCHEMA,
        properties: { ...SCHEMA.properties, kinds: { type: 'array', items: { enum: ['a', 'c'] } } },
      },
    ],
    ['a default', { ...SCHEMA, default: { description: 'some' } }],
    ['a definition', { ...SCHEMA, $defs: {} }],
  ])('is different if %s differs', (_, other) => {
    expect(same(SCHEMA, other)).toBe(false);
  });
});
