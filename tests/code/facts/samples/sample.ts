/** A store of things. */
import type { Reader } from './reader';
import { type Item, load } from './item';
import old = require('old');

export type Key = string | number;
export type Mapped<T> = { [P in keyof T]?: T[P] };
type Result<T> = T extends Promise<infer U> ? U : never;

export interface Options<T = Item> extends Base<T> {
  readonly name: string;
  limit?: number;
  read(name: string): T | undefined;
  (call: string): void;
  [index: string]: unknown;
}

export enum Kind {
  Plain,
  Fancy = 2,
}

export const enum Level { Low = 'low' }

declare const VERSION: string;
declare function outside(value: string): void;

declare module 'other' {
  export function inner(): void;
}

export namespace Tools {
  export const limit = 3;
  export function run(x: number): number { return x }
}

export function over(value: string): string;
export function over(value: number): number;
export function over(value: any): any {
  return value;
}

export abstract class Store<T extends Item> extends Base<T> implements Reader<T> {
  private items: Map<string, T> = new Map();
  static count = 0;
  protected abstract readonly kind: Kind;

  constructor(private readonly name: string, public limit = 10, extra?: string) {
    super();
  }

  abstract write(item: T): void;
  get size(): number { return this.items.size }

  async read<K extends Key>(this: Store<T>, key: K, ...rest: string[]): Promise<T | undefined> {
    const { a, b: { c } } = load(key);
    for (let i = 0; i < rest.length; i++) {
      this.items.get(rest[i]);
    }
    return [a, c].map((one): T => one as T)[0];
  }

  protected handler = (event: Event): void => {};
}

export const identity = <T>(value: T): T => value;
export default Store;
