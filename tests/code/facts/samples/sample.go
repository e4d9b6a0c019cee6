// Package store keeps things.
package store

import (
	"context"
	"fmt"
	str "strings"
	_ "embed"
	. "math"
)

const Limit = 10

const (
	First = iota
	Second
)

var (
	defaultName = "store"
	count, size int
)

// Store is kept.
type Store struct {
	mu    int
	Items map[string]Item
	Base
}

type Item struct {
	Name string
	At   int
}

type Reader interface {
	Read(ctx context.Context, name string) (Item, error)
	fmt.Stringer
}

type ID string
type Handler func(name string) error
type Alias = Store

type List[T any] struct {
	head *T
}

// New makes a store.
func New(name string, opts ...func(*Store)) *Store {
	s := &Store{Items: map[string]Item{}}
	for i, opt := range opts {
		opt(s)
		_ = i
	}
	return s
}

func (s *Store) Read(ctx context.Context, name string) (item Item, err error) {
	if found, ok := s.Items[name]; ok {
		return found, nil
	}
	switch kind := any(name).(type) {
	case string:
		fmt.Println(kind, str.ToUpper(`raw text`))
	}
	handler := func(inner string) error { return nil }
	var local, other = 1, 2
	const inside = 3
	return Item{Name: name, At: local + other + inside}, handler(name)
}

func (l List[T]) Len() int {
outer:
	for {
		break outer
	}
	return int(Abs(1))
}

func Map[K comparable, V any](items map[K]V, f func(K, V)) {
	for key, value := range items {
		f(key, value)
	}
}
