{-# LANGUAGE ScopedTypeVariables #-}
-- | A store of things.
module Example.Store
  ( Store (..)
  , readItem
  ) where

import Data.List (sortBy, foldl')
import qualified Data.Map.Strict as Map
import Data.Maybe hiding (fromJust)

-- | A kept thing.
data Item = Item
  { itemName :: String
  , itemAt :: Int
  }
  deriving (Show, Eq)

data Kind
  = Plain
  | Fancy Int
  | Named {kindName :: String}

newtype Store a = Store {unStore :: Map.Map String a}

type Items = [Item]

class Reader r where
  ready :: r -> Bool
  ready _ = True
  fetch :: r -> String -> Maybe Item

instance Reader (Store a) where
  ready (Store items) = not (Map.null items)
  fetch _ _ = Nothing

limit :: Int
limit = 10

readItem :: Store a -> String -> Maybe a
readItem (Store items) name =
  case Map.lookup name items of
    Just found -> Just found
    Nothing -> Nothing

total :: [Int] -> Int
total [] = 0
total (first : rest) = first + go rest
  where
    go xs = sum xs
    extra = 1

main :: IO ()
main = do
  let text = "some text"
      apply f x = f x
  line <- getLine
  mapM_ (\one -> putStrLn one) [line, text]
