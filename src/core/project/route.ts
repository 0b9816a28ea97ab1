/**
 * Routes of thread endpoints (definitions §11): what a file below `agents/api` answers, and which route a request matches.
 *
 * - An invalid route is reported when the project is loaded, never as the failure of a request.
 * - Among matching routes, the first segment that differs decides: text before `[name]` before `[*]`. Routes of other
 *   methods do not compete: `orders/new.post` does not keep GET /orders/new from `orders/[id]`.
 * - Segments are compared after percent-decoding, so an encoded path reaches nothing that its plain form does not.
 */
import { ENDPOINT_METHODS, type EndpointMethod, type EndpointParams } from '../author/endpoint.ts';

export type RouteSegment =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'param'; readonly name: string }
  /** The rest of the path, possibly empty; always the last segment. */
  | { readonly kind: 'rest' };

export interface Route {
  readonly method: EndpointMethod;
  readonly segments: readonly RouteSegment[];
}

export type ParsedRoute =
  | { readonly ok: true; readonly route: Route }
  | { readonly ok: false; readonly problem: string };

export type FoundRoute<T> =
  | { readonly kind: 'found'; readonly name: string; readonly endpoint: T; readonly params: EndpointParams }
  | { readonly kind: 'not_found' }
  /** The path exists, with other methods. */
  | { readonly kind: 'method_not_allowed'; readonly allowed: readonly string[] };

/** The key in `params` of the rest of the path that `[*]` matched. */
export const REST_PARAM = '*';

const SUFFIX = new RegExp(`\\.(${ENDPOINT_METHODS.join('|')})$`, 'i');
const PARAM_NAME = /^[A-Za-z_][A-Za-z0-9_-]*$/;
/** A file of this name is the route of its folder. */
const INDEX = 'index';

/** Parses the name of an endpoint, such as `orders/[id].post`. */
export function parseRoute(name: string): ParsedRoute {
  const suffix = SUFFIX.exec(name)?.[1];
  const path = suffix === undefined ? name : name.slice(0, -suffix.length - 1);
  const second = SUFFIX.exec(path)?.[1];
  if (second !== undefined)
    return invalidRoute(`ends in two methods, .${second}.${suffix}: create one file per method`);
  const texts = path.split('/');
  if (texts.at(-1) === INDEX) texts.pop();
  const segments: RouteSegment[] = [];
  for (const text of texts) {
    const segment = parseSegment(text);
    if (typeof segment === 'string') return invalidRoute(segment);
    segments.push(segment);
  }
  const problem = findMisplaced(segments);
  if (problem !== undefined) return invalidRoute(problem);
  return { ok: true, route: { method: (suffix?.toUpperCase() ?? 'GET') as EndpointMethod, segments } };
}

function invalidRoute(problem: string): ParsedRoute {
  return { ok: false, problem };
}

/** Returns the segment, or why it is invalid. */
function parseSegment(text: string): RouteSegment | string {
  if (text === '') return 'has a segment without a name';
  if (!/[[\]]/.test(text)) return { kind: 'text', text };
  const inside = /^\[([^[\]]*)\]$/.exec(text)?.[1];
  if (inside === REST_PARAM) return { kind: 'rest' };
  if (inside === '')
    return 'has an empty []: write a parameter such as [id], or [*] for the rest of the path';
  if (inside === undefined)
    return `has the segment '${text}': brackets must enclose a whole segment, as in [id] or [*]`;
  if (PARAM_NAME.test(inside)) return { kind: 'param', name: inside };
  const hint = inside.startsWith('...') ? '; write [*] for the rest of the path' : '';
  return `has the parameter '${inside}', whose name must consist of letters, digits, _ and -, not starting with a digit${hint}`;
}

function findMisplaced(segments: readonly RouteSegment[]): string | undefined {
  const seen = new Set<string>();
  for (const [index, segment] of segments.entries()) {
    if (segment.kind === 'rest' && index < segments.length - 1) return 'has [*] before its last segment';
    if (segment.kind !== 'param') continue;
    if (seen.has(segment.name)) return `has the parameter '${segment.name}' twice`;
    seen.add(segment.name);
  }
  return undefined;
}

/** For display: `POST /orders/[id]`. */
export function describeRoute({ method, segments }: Route): string {
  return `${method} /${segments.map(describeSegment).join('/')}`;
}

/** Equal for two routes that answer the same requests, whatever their parameters are called. */
export function routeShape({ method, segments }: Route): string {
  return `${method} ${JSON.stringify(segments.map((each) => (each.kind === 'text' ? each.text : { [each.kind]: 1 })))}`;
}

function describeSegment(segment: RouteSegment): string {
  if (segment.kind === 'text') return segment.text;
  return segment.kind === 'param' ? `[${segment.name}]` : '[*]';
}

interface Candidate<T> {
  readonly name: string;
  readonly endpoint: T;
  readonly route: Route;
}

/**
 * Finds the endpoint that answers a request. `endpoints` has names as keys; `path` is the undecoded path below the
 * thread's id. HEAD is answered by GET. A path with a broken percent-encoding is not found.
 */
export function findRoute<T>(endpoints: ReadonlyMap<string, T>, method: string, path: string): FoundRoute<T> {
  const segments = decodeSegments(path);
  if (segments === undefined) return { kind: 'not_found' };
  const fitting = [...endpoints].flatMap(([name, endpoint]): Candidate<T>[] => {
    const parsed = parseRoute(name);
    return parsed.ok && matchesPath(parsed.route.segments, segments)
      ? [{ name, endpoint, route: parsed.route }]
      : [];
  });
  if (fitting.length === 0) return { kind: 'not_found' };
  const wanted = method.toUpperCase() === 'HEAD' ? 'GET' : method.toUpperCase();
  const [best] = fitting
    .filter(({ route }) => route.method === wanted)
    .sort((one, other) => compareExactness(one.route.segments, other.route.segments));
  if (!best) return { kind: 'method_not_allowed', allowed: allowedMethods(fitting) };
  const { name, endpoint, route } = best;
  return { kind: 'found', name, endpoint, params: readParams(route.segments, segments) };
}

/** Returns the non-empty segments, decoded; undefined if one cannot be decoded. */
export function decodeSegments(path: string): string[] | undefined {
  try {
    return path
      .split('/')
      .filter((segment) => segment !== '')
      .map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

function matchesPath(route: readonly RouteSegment[], path: readonly string[]): boolean {
  const open = route.at(-1)?.kind === 'rest';
  const least = open ? route.length - 1 : route.length;
  if (path.length < least || (!open && path.length > least)) return false;
  return route.every((segment, index) => segment.kind !== 'text' || segment.text === path[index]);
}

const EXACTNESS = { text: 0, param: 1, rest: 3 } as const;
/** Rank of a route's end: a route that ends with the path precedes one whose `[*]` matches an empty rest. */
const END_RANK = 2;

function compareExactness(one: readonly RouteSegment[], other: readonly RouteSegment[]): number {
  const rank = (segments: readonly RouteSegment[], index: number) => {
    const segment = segments[index];
    return segment === undefined ? END_RANK : EXACTNESS[segment.kind];
  };
  for (let index = 0; index < Math.max(one.length, other.length); index += 1) {
    const difference = rank(one, index) - rank(other, index);
    if (difference !== 0) return difference;
  }
  return 0;
}

function readParams(route: readonly RouteSegment[], path: readonly string[]): EndpointParams {
  const entries = route.flatMap((segment, index): [string, string][] => {
    if (segment.kind === 'param') return [[segment.name, path[index] as string]];
    return segment.kind === 'rest' ? [[REST_PARAM, path.slice(index).join('/')]] : [];
  });
  return Object.freeze(Object.fromEntries(entries));
}

function allowedMethods(fitting: readonly Candidate<unknown>[]): string[] {
  const methods = new Set(fitting.map(({ route }) => route.method));
  return ENDPOINT_METHODS.filter((method) => methods.has(method)).flatMap((method) =>
    method === 'GET' ? [method, 'HEAD'] : [method],
  );
}
